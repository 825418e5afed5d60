"""house-renju: wins, blocks and keeps to each rule of Gomocup, above all those of renju."""

import pytest

from tests.examples import of_evidence
from tests.games.renju_reference import VECTORS
from tests.house_agents.conftest import StartAgent
from tests.house_agents.talk import Square, Talk, board, name_of, square_of, squares


def reply(talk: Talk, stones: str) -> str:
    """What the agent plays, as `h8`."""
    return name_of(square_of(talk.ask(*board(squares(stones)))))


POSITIONS: dict[str, tuple[tuple[int, ...], str, tuple[str, ...]]] = {
    "it completes a five": ((0, 1, 4, 8, 9), "h8h9i8i9j8j9k8k9", ("g8", "l8")),
    "it blocks a four": ((0, 1, 4), "h8g8i8b2j8c13k8", ("l8",)),
    # White's h13 would make six; Black's three must be stopped instead.
    "six do not win under the standard rule": ((1,), "h8h9i8h10g8h11j13h12g14h14i15", ("f8", "j8")),
    # Black's k8 would be between f8 and l8; White's three must be stopped instead.
    "a five between two stones does not win": ((8, 9), "h8f8g8f9i8f7j8l8", ("f5", "f6", "f10", "f11")),
    "the edge does not block a five": ((8, 9), "b8f8c8k3d8k11e8m13", ("a8",)),
    # h6 to h11 would be six, d8 to h8 are five.
    "black wins by five where the stone makes six as well": (
        (4,),
        "d8c8e8a3f8a5g8a7h6a9h7a11h9a13h10a15h11o1",
        ("h8",),
    ),
}
"""The rules, the stones, and the answers that are right."""


@pytest.mark.parametrize(
    ("position", "rule"), [(position, rule) for position, (rules, *_) in POSITIONS.items() for rule in rules]
)
def test_it_plays_what_the_rule_demands(agent: StartAgent, position: str, rule: int) -> None:
    _, stones, answers = POSITIONS[position]
    talk = agent("house-renju")
    talk.ask(f"INFO rule {rule}", "INFO timeout_turn 500", "START 15")

    assert reply(talk, stones) in answers


@pytest.mark.parametrize(("rule", "wins"), [(0, True), (1, False), (4, True), (8, True), (9, False)])
def test_white_wins_by_an_overline_where_the_rule_has_it(agent: StartAgent, rule: int, wins: bool) -> None:
    """White's e8 would make seven: b8 c8 d8 and f8 g8 h8."""
    talk = agent("house-renju")
    talk.ask(f"INFO rule {rule}", "INFO timeout_turn 300", "START 15")
    talk.ask(*board(squares("a1b8a3c8a5d8o1f8o3g8o5h8m15")))

    assert wins == any("static depth 0" in line for line in talk.heard)


@pytest.mark.parametrize("turn_ms", [0, *of_evidence(100)])
def test_black_never_plays_a_forbidden_point(renju: Talk, turn_ms: int) -> None:
    for vector in VECTORS:
        renju.say(f"INFO timeout_turn {turn_ms}")

        assert reply(renju, vector["moves"]) not in vector["forbidden"]
        assert "OK" == renju.ask("RESTART")


def test_white_makes_the_four_that_only_a_forbidden_stone_could_stop(renju: Talk) -> None:
    """White's g12 can only be stopped on g8, where Black would make six: d8 to i8."""
    assert "g12" == reply(renju, "d8g9e8g10f8g11h8a1i8a15g7o1g13")
    assert any("vcf depth 3" in line for line in renju.heard)


def test_agent_identifies_itself_and_refuses_what_it_does_not_know(agent: StartAgent) -> None:
    talk = agent("house-renju")

    assert 'name="house-renju", version="1.0", author="judge"' == talk.ask("ABOUT")
    assert "UNKNOWN command" == talk.ask("YXSHOWINFO")
    assert "ERROR no START yet" == talk.ask("TURN 7,7")
    assert "ERROR board sides must be 5 to 60" == talk.ask("RECTSTART 61,20")
    assert "OK" == talk.ask("INFO rule 6", "START 15")
    assert "ERROR only rules 0, 1, 4, 8 and 9 are supported" == talk.ask("BEGIN")


def test_it_begins_in_the_middle_and_plays_on(renju: Talk) -> None:
    for _ in range(2):
        assert "7,7" == renju.ask("BEGIN")
        assert square_of(renju.ask("TURN 8,8")) not in ((7, 7), (8, 8))
        assert "OK" == renju.ask("RESTART")
    assert "OK" == renju.ask("RECTSTART 30,20")
    assert "15,10" == renju.ask("BEGIN")


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


@pytest.mark.parametrize(
    ("stones", "most"),
    [
        *(("h8i8j10", 2), ("a1h8o15", 2), ("a1b1o15", 2), ("h8h9h10", 2)),
        *(("h8i8j10i9i7", 1), ("a1h8o15h9c3", 1)),
        # White would be to move; Black has h8 i9 j10 and White two stones in corners.
        ("h8a1i9o1j10", 0),
    ],
)
def test_it_answers_an_opening_with_a_swap_or_some_stones(swap2: Talk, stones: str, most: int) -> None:
    answer = swap2.ask(*swap2_board(stones))

    if answer != "SWAP":
        laid = cells(answer)
        assert 1 <= len(laid) <= most
        assert len({*laid, *squares(stones)}) == len(squares(stones)) + len(laid)


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

    assert ["OK", *["UNKNOWN command"] * 2] == [talk.ask(line) for line in ("START 15", "SWAP2BOARD", "DONE")]
    assert "ERROR only rules 0 and 1 are supported" == talk.ask("INFO rule 4", "BEGIN")
