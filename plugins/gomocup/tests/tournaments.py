"""A tournament as the organisers of Gomocup have one: written here, in the format of their server."""

from pathlib import Path

FIELDS = {
    "name": "freestyle-2026",
    "board": "20",
    "rule": "0",
    "opening": "twelve",
    "engines": "FIVE.zip pbrain-six.py SEVEN.B.zip",
    "tournament": "1",
    "time_turn": "30000",
    "time_match": "180000",
    "tolerance": "1000",
    "memory": "367001600",
    "real_time_pos": "0",
    "real_time_message": "0",
    "remote": "",
}

OPENINGS = "0,0, 1,1, 2,-1\n-3,-4, -2,-2,\n\n1,1,1,2\n"


def write_tournament(folder: Path, openings: str = OPENINGS, /, **fields: str | None) -> Path:
    """The file, beside its directories with openings and programs that are empty; None leaves a field out."""
    for name in ("tournament", "opening", "engine"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    chosen = {key: value for key, value in (FIELDS | fields).items() if value is not None}
    (folder / "opening/twelve.txt").write_text(openings)
    for program in chosen.get("engines", "").split():
        if "/" not in program:
            (folder / "engine" / program).touch()
    path = folder / "tournament/cup.txt"
    path.write_text("".join(f"{key} = {value}\r\n" for key, value in chosen.items()))
    return path
