"""`judge contest status` and `standings` of a contest that runs, and after its end."""

from pathlib import Path

import pytest

from judge.cli.contest.tables import standings, status, status_of
from judge.cli.contest.verify import verify
from judge.contest.run_lock import alone
from judge.export.export import publish
from judge.transparency.keys import make_key
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


class Twins(Cup):
    """Whose bert has the files of anna."""

    def store_files(self, name: str) -> str:
        return super().store_files("anna" if name == "bert" else name)


def test_status_names_agents_with_the_same_files_while_they_take_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Twins(tmp_path / "cup", {name: CAST[name] for name in ("anna", "bert", "crash.one")}) as cup:
        status(tmp_path / "cup")
        assert "  copies        anna, bert have the same files\n" in capsys.readouterr().out
        cup.store.disqualify(cup.contest.name, "bert", "a test")
        status(tmp_path / "cup")
    assert "same files" not in capsys.readouterr().out


def test_standings_have_place_range_title_and_state(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cast = {name: CAST[name] for name in ("anna", "bert", "crash.one")}
    folder = tmp_path / "cup"
    with Cup(folder, cast, 'name = "round-robin"\ngames = 2', more='title = "Weekend Cup"') as cup:
        cup.play(4)
        standings(folder)
        running = capsys.readouterr().out.splitlines()
        status(folder)
        assert "Weekend Cup (spring-cup): open, 4 of 6 games done" == capsys.readouterr().out.splitlines()[0]
        cup.play(2)
        standings(folder)
        final = capsys.readouterr().out.splitlines()
        publish(cup.contest, tmp_path / "public", tmp_path / "private", make_key(tmp_path / "organiser.key"))
        verify(tmp_path / "public")
        assert "public: ok: Weekend Cup (spring-cup), 6 games replayed" in capsys.readouterr().out
        cup.store.annul(cup.store.games(cup.contest.name)[0].id, "a test")
        cup.store.issue(cup.contest.name, "here", cup.contest.alone)
        status(folder)
        interrupted = capsys.readouterr().out.splitlines()
        assert "Weekend Cup (spring-cup): interrupted, 5 of 6 games done" == interrupted[0]
        assert "  1 interrupted, 5 done" == interrupted[1]
        assert f"no judge plays the contest; judge contest run {folder} continues it" in interrupted[2]
        with alone(cup.planned):
            status(folder)
        assert "Weekend Cup (spring-cup): playing, 5 of 6 games done" == capsys.readouterr().out.splitlines()[0]
    assert "Weekend Cup (spring-cup)" == final[0].strip()
    assert ["place", "range", "agent", "points"] == final[1].split()[:4]
    assert ["1", "2", "3"] == [line.split()[0] for line in final[2:5]]
    assert all("-" in line.split()[1] for line in final[2:5])
    assert "Final." in final
    assert "Not finished: 4 of 6 games" in running
