"""`judge contest status` reads only the results that it needs."""

from pathlib import Path

import pytest

from judge.cli.contest.tables import status_of
from tests.publish.cups import Cup, crasher, player

CAST = {
    "anna": player("anna", 0.95),
    "bert": player("bert", 0.8),
    "crash.one": crasher("crash.one", 2),
    "crash.two": crasher("crash.two", 2),
}


@pytest.mark.parametrize("form", ["round-robin", "swiss"])
def test_status_agrees_with_the_standings(tmp_path: Path, form: str) -> None:
    more = "\nrounds = 3" if form == "swiss" else ""
    with Cup(tmp_path / "cup", CAST, f'name = "{form}"\ngames = 2{more}', more="[failures]\nafter = 1000") as cup:
        for out in ("", "crash.one"):
            if out:
                cup.store.disqualify(cup.contest.name, out, "a test")
            cup.play(5)
            shown, standing = status_of(cup.contest), cup.contest.standing()
            counts = {line.agent: line.done.failures for line in standing.table.lines if line.done.failures}
            assert counts == shown["failures"]
            assert list(shown["failures"].values()) == sorted(counts.values(), reverse=True) != []
            assert shown["disqualified"] == standing.out
            assert (shown["to_come"], shown["is_over"]) == (cup.contest.to_come().games, cup.contest.is_over())
