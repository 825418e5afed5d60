"""house-renju: wins, blocks and keeps to each rule of Gomocup, above all those of renju."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.examples import of_evidence
from tests.house_agents.conftest import FindFouls, StartAgent
from tests.house_agents.talk import Square, Talk, board, name_of, square_of, squares

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "games/data/renju_vectors.json").read_text())


def reply(talk: Talk, stones: str) -> str:
    """What the agent plays, as `h8`."""
    return name_of(square_of(talk.ask(*board(squares(stones)))))


@pytest.mark.parametrize("rule", [0, 1, 4, 8, 9])
def test_it_completes_a_five_under_every_rule(agent: StartAgent, rule: int) -> None:
    talk = agent("house-renju")
    talk.ask(f"INFO rule {rule}", "INFO timeout_turn 200", "START 15")

    assert reply(talk, "h8h9i8i9j8j9k8k9") in ("g8", "l8")


@pytest.mark.parametrize("rule", [0, 1, 4])
def test_it_blocks_a_four(agent: StartAgent, rule: int) -> None:
    talk = agent("house-renju")
    talk.ask(f"INFO rule {rule}", "INFO timeout_turn 200", "START 15")

    assert "l8" == reply(talk, "h8g8i8b2j8c13k8")


def test_six_do_not_win_under_the_standard_rule(agent: StartAgent) -> None:
    """White's h13 would make six; Black's three must be stopped instead."""
    talk = agent("house-renju")
    talk.ask("INFO rule 1", "INFO timeout_turn 500", "START 15")

    assert reply(talk, "h8h9i8h10g8h11j13h12g14h14i15") in ("f8", "j8")


@pytest.mark.parametrize("rule", [8, 9])
def test_a_five_between_two_stones_does_not_win_under_caro(agent: StartAgent, rule: int) -> None:
    """Black's k8 would stand between f8 and l8; White's three must be stopped instead."""
    talk = agent("house-renju")
    talk.ask(f"INFO rule {rule}", "INFO timeout_turn 500", "START 15")

    assert reply(talk, "h8f8g8f9i8f7j8l8") in ("f5", "f6", "f10", "f11")


@pytest.mark.parametrize("rule", [8, 9])
def test_the_edge_does_not_block_a_five_under_caro(agent: StartAgent, rule: int) -> None:
    talk = agent("house-renju")
    talk.ask(f"INFO rule {rule}", "INFO timeout_turn 200", "START 15")

    assert "a8" == reply(talk, "b8f8c8k3d8k11e8m13")


@pytest.mark.parametrize(("rule", "wins"), [(0, True), (1, False), (4, True), (8, True), (9, False)])
def test_white_wins_by_an_overline_where_the_rule_has_it(agent: StartAgent, rule: int, wins: bool) -> None:
    """White's e8 would make seven: b8 c8 d8 and f8 g8 h8."""
    talk = agent("house-renju")
    talk.ask(f"INFO rule {rule}", "INFO timeout_turn 300", "START 15")
    talk.ask(*board(squares("a1b8a3c8a5d8o1f8o3g8o5h8m15")))

    assert wins == any("static depth 0" in line for line in talk.heard)


@pytest.mark.parametrize("turn_ms", [0, 100])
def test_black_never_plays_a_forbidden_point(renju: Talk, turn_ms: int) -> None:
    for vector in VECTORS:
        renju.say(f"INFO timeout_turn {turn_ms}")

        assert reply(renju, vector["moves"]) not in vector["forbidden"]
        assert "OK" == renju.ask("RESTART")


def test_black_does_not_make_two_threes(renju: Talk) -> None:
    assert "g9" != reply(renju, "h8h9i7i9h10i6i11i12")


def test_black_wins_by_five_where_the_stone_makes_six_as_well(renju: Talk) -> None:
    assert "h8" == reply(renju, "d8c8e8a3f8a5g8a7h6a9h7a11h9a13h10a15h11o1")


def test_white_makes_the_four_that_only_a_forbidden_stone_could_stop(renju: Talk) -> None:
    """White's g12 can only be stopped on g8, where Black would make six: d8 to i8."""
    assert "g12" == reply(renju, "d8g9e8g10f8g11h8a1i8a15g7o1g13")
    assert any("vcf depth 3" in line for line in renju.heard)


def test_black_plays_on_where_the_only_block_is_forbidden(renju: Talk) -> None:
    """White threatens five on g8. Black has lost, but not by a foul."""
    assert "g8" != reply(renju, "d8g9e8g10f8g11h8g12i8a15g7o1g13a13")


# ---- the conversation ----


def test_agent_identifies_itself(agent: StartAgent) -> None:
    talk = agent("house-renju")

    assert 'name="house-renju", version="1.0", author="judge"' == talk.ask("ABOUT")
    assert "UNKNOWN command" == talk.ask("YXSHOWINFO")
    assert "ERROR no START yet" == talk.ask("TURN 7,7")


def test_a_rule_that_it_does_not_know_is_refused_when_a_move_is_asked_for(
    agent: StartAgent,
) -> None:
    talk = agent("house-renju")

    assert "OK" == talk.ask("INFO rule 6", "START 15")
    assert "ERROR only rules 0, 1, 4, 8 and 9 are supported" == talk.ask("BEGIN")


def test_it_begins_in_the_middle_and_plays_on(renju: Talk) -> None:
    assert "7,7" == renju.ask("BEGIN")
    first = square_of(renju.ask("TURN 8,8"))
    assert first not in ((7, 7), (8, 8))


@pytest.mark.parametrize(("ends", "name"), [("\n", "LF"), ("\r\n", "CR LF")])
def test_lines_may_end_either_way(agent: StartAgent, ends: str, name: str) -> None:
    talk = agent("house-renju")
    talk.say("START 15", "BEGIN", end=ends)

    assert ["OK", "7,7"] == [talk.answer(), talk.answer()]


def test_a_rectangle_has_its_own_middle(agent: StartAgent) -> None:
    talk = agent("house-renju")

    assert "OK" == talk.ask("RECTSTART 30,20")
    assert "15,10" == talk.ask("BEGIN")
    assert "ERROR board sides must be 5 to 60" == talk.ask("RECTSTART 61,20")


def test_a_restart_empties_the_board(renju: Talk) -> None:
    assert "7,7" == renju.ask("BEGIN")
    assert "OK" == renju.ask("RESTART")
    assert "7,7" == renju.ask("BEGIN")


def test_a_stone_taken_back_is_gone_and_sides_stay(renju: Talk) -> None:
    """The agent is White after TURN on the empty board, and still is when both last stones are undone."""
    answer = renju.ask("TURN 7,7")
    assert "OK" == renju.ask(f"TAKEBACK {answer}")
    assert "OK" == renju.ask("TAKEBACK 7,7")
    assert "ERROR no stone there" == renju.ask("TAKEBACK 7,7")
    assert answer != "7,7"
    assert square_of(renju.ask("TURN 7,7")) != (7, 7)


def test_a_board_may_come_in_any_order_under_free_gomoku(agent: StartAgent) -> None:
    talk = agent("house-renju")
    talk.ask("INFO timeout_turn 200", "START 15")
    rows = board(squares("h8g8i8b2j8c13k8"))

    assert "11,7" == talk.ask("BOARD", *sorted(rows[1:-1]), "DONE")


@pytest.mark.parametrize(
    "limits",
    [
        ["INFO timeout_turn 0"],
        ["INFO timeout_turn 1"],
        ["INFO timeout_match 50", "INFO timeout_turn 5000"],
        ["INFO time_left -20"],
        ["INFO timeout_match 0", "INFO timeout_turn 100", "INFO time_left 2147483647"],
    ],
    ids=lambda limits: limits[-1],
)
def test_it_answers_under_any_limit(agent: StartAgent, limits: list[str]) -> None:
    talk = agent("house-renju")
    talk.ask("INFO rule 4", *limits, "START 15")

    assert "7,7" == talk.ask("BEGIN")
    for x, y in ((0, 0), (14, 0), (0, 14)):  # where it will not have gone itself
        assert square_of(talk.ask(f"TURN {x},{y}")) != (x, y)


def test_it_needs_little_memory(agent: StartAgent) -> None:
    talk = agent("house-renju")
    talk.ask("INFO max_memory 8388608", "INFO rule 4", "INFO timeout_turn 300", "START 20")
    reply(talk, "h8h9i7i9h10i6i11i12")

    assert talk.peak_memory_bytes() < 8388608


# ---- swap2 ----


@pytest.fixture
def swap2(agent: StartAgent) -> Talk:
    """A house-renju that opens by swap2, as the swap2 league plays: exactly five."""
    talk = agent("house-renju")
    talk.ask("INFO rule 1", "INFO timeout_turn 400", "START 15")
    return talk


def swap2_board(stones: str) -> list[str]:
    return ["SWAP2BOARD", *(f"{x},{y}" for x, y in squares(stones)), "DONE"]


def cells(answer: str) -> list[Square]:
    return [square_of(word) for word in answer.split()]


def test_it_lays_three_stones(swap2: Talk) -> None:
    laid = cells(swap2.ask(*swap2_board("")))

    assert 3 == len(set(laid))
    assert all(0 <= x < 15 and 0 <= y < 15 for x, y in laid)


@pytest.mark.parametrize("stones", ["h8i8j10", "a1h8o15", "a1b1o15", "h8h9h10"])
def test_it_answers_three_stones_with_a_swap_or_one_stone_or_two(swap2: Talk, stones: str) -> None:
    answer = swap2.ask(*swap2_board(stones))

    if answer != "SWAP":
        laid = cells(answer)
        assert len(laid) in (1, 2)
        assert len({*laid, *squares(stones)}) == 3 + len(laid)


@pytest.mark.parametrize("stones", ["h8i8j10i9i7", "a1h8o15h9c3"])
def test_it_answers_five_stones_with_a_swap_or_one_stone(swap2: Talk, stones: str) -> None:
    answer = swap2.ask(*swap2_board(stones))

    assert answer == "SWAP" or cells(answer)[0] not in squares(stones)


def test_it_swaps_where_black_has_an_open_three(swap2: Talk) -> None:
    """White would be to move; Black has h8 i9 j10 and White two stones in corners."""
    assert "SWAP" == swap2.ask(*swap2_board("h8a1i9o1j10"))


def test_it_stays_where_white_has_the_better_stones(swap2: Talk) -> None:
    """White is to move and has h8 i8, Black three stones in corners."""
    assert cells(swap2.ask(*swap2_board("a1h8o1i8o15")))[0] not in squares("a1h8o1i8o15")


def test_agent_plays_from_the_board_sent_after_swaps(swap2: Talk) -> None:
    swap2.ask(*swap2_board("h8i8j10"))

    assert square_of(swap2.ask(*board(squares("h8i8j10i9")))) not in squares("h8i8j10i9")


@pytest.mark.parametrize("stones", ["h8", "h8i8", "h8i8j10i9", "h8i8j10i9i7a1"])
def test_another_number_of_stones_is_an_error(swap2: Talk, stones: str) -> None:
    assert "ERROR swap2 has 0, 3 or 5 stones" == swap2.ask(*swap2_board(stones))


def test_house_strong_plays_two_rules_and_no_swap2(agent: StartAgent) -> None:
    """Each line of a command that it does not know is one UNKNOWN, as most brains do."""
    talk = agent("house-strong")

    assert ["OK", "UNKNOWN command", "UNKNOWN command"] == [
        talk.ask("START 15"), talk.ask("SWAP2BOARD"), talk.ask("DONE"),
    ]  # fmt: skip
    assert "ERROR only rules 0 and 1 are supported" == talk.ask("INFO rule 4", "BEGIN")


# ---- whole games ----


def has_five(stones: list[Square], exact: bool) -> bool:
    """Whether the last stone made a five for its side."""
    mine, (x, y) = set(stones[-1::-2]), stones[-1]
    for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
        run = 1
        for sign in (1, -1):
            step = 1
            while (x + sign * step * dx, y + sign * step * dy) in mine:
                run, step = run + 1, step + 1
        if run == 5 or (run > 5 and not exact):
            return True
    return False


def play(players: list[Talk], opening: str, fouls: FindFouls) -> list[Square]:
    """Play one game from an opening; every stone is checked as it is played."""
    stones = squares(opening)
    for talk in players:
        talk.ask("RESTART")
    started = 0
    while len(stones) < 200:
        talk = players[len(stones) % 2]
        x, y = stones[-1]
        answer = talk.ask(*board(stones)) if started < 2 else talk.ask(f"TURN {x},{y}")
        started += 1
        square = square_of(answer)
        assert square not in stones
        assert len(stones) % 2 == 1 or square not in fouls(stones)
        stones.append(square)
        if has_five(stones, exact=len(stones) % 2 == 1):
            break
    return stones


THIRDS = ["j8", "j9", "j10", "i7", "h7", "g7", "f8", "f7", "f6", "j6", "i6", "h6", "g6", "j7", "g10", "f10", "i10"]


@pytest.mark.parametrize("third", ["h10", "i9", *of_evidence("g9", *THIRDS)])
def test_a_game_of_renju_against_itself_has_no_foul(agent: StartAgent, fouls: FindFouls, third: str) -> None:
    players = [agent("house-renju"), agent("house-renju")]
    for talk in players:
        assert "OK" == talk.ask("INFO rule 4", "INFO timeout_turn 45", "START 15")

    stones = play(players, f"h8h9{third}", fouls)

    assert has_five(stones, exact=len(stones) % 2 == 1) or len(stones) == 200
