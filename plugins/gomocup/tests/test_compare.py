"""Games that GomocupJudge has judged, by judge's rules and clocks; written here, in its format."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_gomocup.compare import compare_played

from judge.base.errors import InputError
from judge.catalog.managers import Difference, DifferenceKind, FinishedContest
from judge.record.policy import load_policy

FIVE = "8,8 1,1 9,8 1,2 10,8 1,3 11,8 1,4 12,8"
"""Black wins with the ninth stone, under every rule."""

SIX = "8,8 1,1 9,8 1,3 10,8 3,1 12,8 5,5 13,8 7,1 11,8"
"""Black lays a row of six, and nothing else."""


def contest(policy: str = "gomocup-standard", *changes: str) -> FinishedContest:
    """Of FIVE and SIX, which have not played here."""
    return FinishedContest(
        name="cup", agents=["FIVE", "SIX"], policy=load_policy(policy, changes), openings=[((7, 7), (0, 0))]
    )


def game(folder: Path, stones: str, winner: int, ms: int = 50, name: str = "0_0_1_{}.psq") -> Path:
    """A file of theirs; the winner is a colour, and player 1 is black. The first two stones are the opening."""
    places = stones.split()
    lines = [f"{place},{0 if number < 2 else ms}" for number, place in enumerate(places)]
    path = folder / name.format(winner)
    end = ["FIVE.zip", "SIX.zip", "-1", f"{winner},cup", ""]
    path.write_text("\r\n".join(["Piskvorky 15x15, 11:11, 0", *lines, *end]))
    return path


def state(folder: Path, winner: int, end: int) -> None:
    (folder / "state.txt").write_text(
        f"(0, 1, 0)\t{winner}\t{end}\t400\t300\t4\t3\n(1, 0, 0)\tNone\tNone\t0\t0\t0\t0\n"
    )


def of_rules(found: Sequence[Difference]) -> list[tuple[DifferenceKind, bool]]:
    """Without that nothing was played here."""
    return [(each.kind, each.changes_result) for each in found if "no result here" not in each.text]


def test_a_game_that_ends_alike_by_our_rules_has_no_difference(tmp_path: Path) -> None:
    game(tmp_path, FIVE, 1)
    compared = compare_played(tmp_path, contest())

    assert [] == of_rules(compared.differences)
    assert (1, 0, 0) == (compared.theirs, compared.ours, compared.aligned)


@pytest.mark.parametrize(
    ("stones", "winner", "policy", "said"),
    [
        (SIX, 1, "gomocup-standard", "by judge's rules the game continues"),
        (SIX, 2, "gomocup-freestyle", "by judge's rules black won by a row of 6 with stone 11"),
        (f"{FIVE} 2,2", 2, "gomocup-standard", "GomocupJudge continued to stone 10"),
        (FIVE, 0, "gomocup-standard", "drawn by the rules after 9 stones; by judge's rules black won"),
        (SIX, 1, "renju-15", "by judge's rules white won by black's"),
    ],
)
def test_win_by_another_rule_is_a_rule_difference(
    stones: str, winner: int, policy: str, said: str, tmp_path: Path
) -> None:
    game(tmp_path, stones, winner)
    state(tmp_path, winner, 0)
    sizes = ("game.options.width=15", "game.options.height=15")
    (found,) = [d for d in compare_played(tmp_path, contest(policy, *sizes)).differences if d.kind == "rule"]

    assert said in found.text


def test_a_failure_is_that_of_the_side_to_move(tmp_path: Path) -> None:
    game(tmp_path, "8,8 1,1 9,8", 1)
    state(tmp_path, 1, 2)
    assert [] == of_rules(compare_played(tmp_path, contest()).differences)

    (tmp_path / "0_0_1_1.psq").unlink()
    game(tmp_path, "8,8 1,1 9,8", 2)
    state(tmp_path, 2, 4)
    assert [(DifferenceKind.BLAME, True)] == of_rules(compare_played(tmp_path, contest()).differences)


def test_a_stone_that_took_longer_than_our_clock_allows_is_a_difference_of_the_clock(tmp_path: Path) -> None:
    game(tmp_path, FIVE, 1, ms=6001)
    slow = contest("gomocup-standard", "clock.turn_ms=5000", "clock.start_ms=100")
    (found,) = compare_played(tmp_path, slow).differences[:1]

    # The first stone of each may take the start-up longer: the fifth is the third that was played.
    assert DifferenceKind.CLOCK is found.kind
    assert (
        "black took 6001 ms for stone 5; judge's clock allows 6000 ms (clock.turn_ms and clock.tolerance_ms)"
        in found.text
    )
    assert found.changes_result

    slow = contest("gomocup-standard", "clock.match_ms=15000", "clock.tolerance_ms=0")
    (found,) = compare_played(tmp_path, slow).differences[:1]
    assert "for stone 7; judge's clock allows 2998 ms (clock.match_ms" in found.text


def test_the_move_on_a_taken_square_that_lost_is_no_stone(tmp_path: Path) -> None:
    game(tmp_path, "8,8 1,1 9,8 8,8", 1)
    state(tmp_path, 1, 3)

    assert [] == of_rules(compare_played(tmp_path, contest()).differences)


def test_another_board_another_opening_and_a_stranger_are_named(tmp_path: Path) -> None:
    game(tmp_path, "3,3 4,4 5,5 6,6 7,7", 2)
    texts = [each.text for each in compare_played(tmp_path, contest()).differences]
    assert "GomocupJudge began from c3d4, which is not an opening of this contest" in texts

    texts = [each.text for each in compare_played(tmp_path, contest("gomocup-freestyle")).differences]
    assert "GomocupJudge plays on 15x15, judge on 20x20" in texts

    path = tmp_path / "0_0_1_2.psq"
    path.write_text(path.read_text().replace("SIX.zip", "SEVEN.zip"))
    texts = [each.text for each in compare_played(tmp_path, contest()).differences]
    assert "SEVEN.zip does not take part here" in texts


def test_winner_is_the_named_colour_or_the_first_mover_after_our_opening(tmp_path: Path) -> None:
    """An instant program's first stones have a time of 0, like those of an opening."""
    game(tmp_path, FIVE, 1, ms=0)
    assert [] == of_rules(compare_played(tmp_path, contest()).differences)

    (tmp_path / "0_0_1_1.psq").rename(tmp_path / "downloaded.psq")
    assert [] == of_rules(compare_played(tmp_path, contest()).differences)


def test_piskvork_file_ends_with_a_code_and_names_colours(tmp_path: Path) -> None:
    path = game(tmp_path, FIVE, 1, ms=0, name="1x0-9(2).psq")
    path.write_text(path.read_text().replace("-1\n1,cup", "0"))

    assert [] == of_rules(compare_played(tmp_path, contest()).differences)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.psq", "Piskvorky 15x15, 11:11, 0\r\n8,8,1\r\n", "players or winner are missing"),
        ("a.psq", "hello", "line 1: no header"),
        ("state.txt", "__import__('os').system('x')\t1\n", "line 1: \"__import__('os').system('x')"),
    ],
)
def test_invalid_file_is_named(name: str, data: str, said: str, tmp_path: Path) -> None:
    game(tmp_path, FIVE, 1)
    (tmp_path / name).write_text(data)

    with pytest.raises(InputError) as caught:
        compare_played(tmp_path, contest())

    assert str(tmp_path / name) in str(caught.value)
    assert said in str(caught.value)


def test_no_games_and_links_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \.psq file"):
        compare_played(tmp_path, contest())
    (tmp_path / "a.psq").symlink_to(game(tmp_path, FIVE, 1))
    with pytest.raises(InputError, match="a link, which is not followed"):
        compare_played(tmp_path, contest())
    (tmp_path / "a.psq").unlink()
    os.mkfifo(tmp_path / "a.psq")
    with pytest.raises(InputError, match="a special file, which is not read"):
        compare_played(tmp_path, contest())


@given(
    st.lists(st.tuples(st.integers(1, 15), st.integers(1, 15), st.integers(0, 99999)), min_size=3, max_size=40),
    st.integers(0, 2),
    st.integers(0, 4),
)
@settings(max_examples=60, deadline=None)
def test_whatever_was_played_each_difference_has_a_kind_and_words(
    tmp_path_factory: pytest.TempPathFactory, stones: list[tuple[int, int, int]], winner: int, end: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-game"
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    game(folder, " ".join(f"{x},{y}" for x, y, _ in stones), winner)
    state(folder, winner, end)
    try:
        compared = compare_played(folder, contest())
    except InputError:
        return
    assert all(each.text and each.kind in DifferenceKind for each in compared.differences)
