"""house-agi and house-agi-instant: AGI as the norm reads it, and the opening procedures of SETRULE."""

import pytest

from tests.examples import of_evidence
from tests.house_agents.conftest import StartAgent
from tests.house_agents.talk import Square, Talk, agi, best, from_agi, squares

AGENTS = ["house-agi", "house-agi-instant"]
GREETING = ["ID NAME", "ID AUTHOR", "OPTION OWNBOOK", "AGIOK"]


@pytest.fixture
def engine(agent: StartAgent) -> Talk:
    return agent("house-agi")


def position(text: str) -> str:
    """POSITION for stones as `h8i9`."""
    return "POSITION MOVES " + "".join(agi(square) for square in squares(text))


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["LF", "CR LF"])
def test_it_greets_and_plays_in_any_letter_case_and_with_any_line_end(agent: StartAgent, name: str, ends: str) -> None:
    talk = agent(name)
    talk.say("aGi", "isready", "setrule forbidden", "position moves 786869", "go time 500", end=ends)

    for begins in (*GREETING, "READYOK"):
        assert talk.hear().startswith(begins)
    assert from_agi(talk.hear_until("BESTMOVE").split()[1])[0] not in from_agi("786869")


def test_the_sample_conversation_of_the_protocol(engine: Talk) -> None:
    """Whether the space before INFINITE is there or, as the protocol prints it, not."""
    engine.say("AGI")
    engine.hear_until("AGIOK")
    engine.say("SETOPTION OWNBOOK ON", "SETOPTION PONDER OFF", "SETRULE FORBIDDEN", "ISREADY")
    assert "READYOK" == engine.hear()
    engine.say("POSITION MOVES 78685A69", "GO SEARCH 67596A6BINFINITE")
    engine.hear_until("INFO DEPTH 2")
    first = best(engine, "STOP")
    assert first in ("67", "59", "6A", "6B")
    engine.say(f"DOMOVE {first}", "GO INFINITE")
    engine.hear_until("INFO DEPTH 2")
    second = best(engine, "STOP")
    assert second not in ("78", "68", "5A", "69", first)
    engine.say("QUIT")
    assert "BYE" == engine.hear()
    assert 0 == engine.process.wait()


def test_agent_reports_its_search(engine: Talk) -> None:
    engine.say("POSITION MOVES 78685A69", "GO INFINITE")
    engine.hear_until("INFO DEPTH 4")
    engine.say("STOP")
    answer = engine.hear_until("BESTMOVE").split()

    depth = [line.split() for line in engine.heard if line.startswith("INFO DEPTH")]
    assert [str(number) for number in range(1, len(depth) + 1)] == [words[2] for words in depth]
    assert {("SCORE", "PV")} == {(words[3], words[5]) for words in depth}
    assert any(line.startswith("INFO NPS ") for line in engine.heard)
    assert "PONDER" == answer[2]


def test_it_is_ready_and_leaves_while_it_thinks(engine: Talk) -> None:
    engine.say("STOP", "POSITION MOVES 78685A69", "GO TIME INFINITE")  # nothing is stopped yet
    engine.hear_until("INFO DEPTH 1")
    for _ in range(3):
        engine.say("ISREADY")
        engine.hear_until("READYOK")
    engine.say("quit")

    engine.hear_until("BYE")
    assert 0 == engine.process.wait()


def test_it_ponders_without_an_answer(engine: Talk) -> None:
    """STOP ends pondering silently: what is heard next is the answer to the GO that follows."""
    engine.say("POSITION MOVES 78685A69", "GO PONDER", "ISREADY")
    engine.hear_until("READYOK")
    engine.say("STOP", "DOMOVE 67", "GO TIME 500")
    engine.hear_until("BESTMOVE")
    engine.say("ISREADY")

    assert "READYOK" == engine.hear()
    assert 1 == sum(line.startswith("BESTMOVE") for line in engine.heard)


def test_a_position_may_be_stones_without_an_order_and_moves(engine: Talk) -> None:
    """Five stones of STATU, Black's first; then White's 8A. Black has 78 79 7A 7B and makes five."""
    stones = "POSITION STATU 7888798968 MOVES 8A7A8B7B97"

    assert best(engine, stones, "GO TIME 400") in ("77", "7C")


@pytest.mark.parametrize(("rule", "plays"), [("FORBIDDEN", False), ("UNFORBIDDEN", True)])
def test_black_makes_six_only_where_nothing_is_forbidden(engine: Talk, rule: str, plays: bool) -> None:
    """White has a four that only g8 stops, where Black makes six: d8 to i8."""
    answer = best(engine, f"SETRULE {rule}", position("d8g9e8g10f8g11h8g12i8a15g7o1g13a13"), "GO TIME 600")

    assert plays == (answer == agi(squares("g8")[0]))


@pytest.mark.parametrize("name", AGENTS)
def test_it_answers_with_any_time_left_and_only_with_the_points_that_are_named(agent: StartAgent, name: str) -> None:
    talk = agent(name)
    for time in ("0", "1", "40", "500"):
        assert best(talk, "POSITION MOVES 786869", f"GO TIME {time}") not in ("78", "68", "69")
    assert best(talk, "POSITION MOVES 7868695979", "GO SEARCH 01E1EF TIME 500") in ("01", "E1", "EF")


CHANGES = ["SETRULE FORBIDDEN THIRDCHANGE", "SETRULE UNFORBIDDEN FIRSTCHANGE"]


def distance(text: str) -> int:
    """Steps from the middle."""
    x, y = from_agi(text)[0]
    return max(abs(x - 7), abs(y - 7))


@pytest.mark.parametrize("name", AGENTS)
def test_it_lays_three_stones_as_renju_opens(agent: StartAgent, name: str) -> None:
    talk = agent(name)
    talk.say("SETRULE FORBIDDEN THIRDCHANGE FIVETWINE", "POSITION")
    laid: list[str] = []
    for reach in range(3):
        laid.append(best(talk, "GO TIME 600"))
        assert distance(laid[-1]) <= reach
        talk.say(f"DOMOVE {laid[-1]}")
    assert 3 == len(set(laid))


@pytest.mark.parametrize("rule", CHANGES)
def test_placing_the_stones_does_not_change_colours(engine: Talk, rule: str) -> None:
    """Asked again after its own last stone, it was made White, whatever SETRULE still says."""
    engine.say(rule, "POSITION")
    for _ in range(3 if "THIRD" in rule else 1):
        engine.say(f"DOMOVE {best(engine, 'GO TIME 400')}")

    assert best(engine, "GO TIME 400") != "CHANGE"


@pytest.mark.parametrize(
    ("rule", "stones", "changes"),
    [
        # Black has two together in the middle and White one in a corner.
        ("UNFORBIDDEN THIRDCHANGE", ("78", "01", "79"), True),
        ("UNFORBIDDEN FIRSTCHANGE", ("01",), False),
        ("UNFORBIDDEN FIRSTCHANGE", ("78",), True),
        ("FORBIDDEN", ("78",), False),
        ("FORBIDDEN", ("78", "68", "89"), False),
        ("FORBIDDEN", ("78", "68", "89", "79"), False),
    ],
)
def test_it_changes_to_the_better_side_if_it_may(
    engine: Talk, rule: str, stones: tuple[str, ...], changes: bool
) -> None:
    engine.say(f"SETRULE {rule}", "POSITION", *(f"DOMOVE {stone}" for stone in stones))

    assert changes == ("CHANGE" == best(engine, "GO TIME 800"))


FOUR_STONES = ["h8h9h10h7", "h8h9i9g8", *of_evidence("h8i9j10g7", "h8i9h10h9")]


def images(square: Square) -> list[Square]:
    """The eight images of a square, always in the same order of symmetries."""
    x, y = square[0] - 7, square[1] - 7
    both = [(x, y), (y, x)]
    return [(sx * a + 7, sy * b + 7) for a, b in both for sx in (1, -1) for sy in (1, -1)]


def same_choices(stones: list[Square], square: Square) -> set[Square]:
    """Where a square can go under the symmetries that keep the stones of each colour."""
    colours = [(set(stones[::2]), 0), (set(stones[1::2]), 1)]
    keeps = [i for i in range(8) if all({images(stone)[i] for stone in mine} == mine for mine, _ in colours)]
    return {images(square)[i] for i in keeps}


@pytest.mark.parametrize("stones", FOUR_STONES)
def test_black_offers_two_fifths_that_are_not_the_same(engine: Talk, stones: str) -> None:
    laid = squares(stones)
    first, second = from_agi(best(engine, "SETRULE FORBIDDEN FIVETWINE", position(stones), "GO TIME 500"))

    assert {first, second}.isdisjoint(laid)
    assert second not in same_choices(laid, first)


@pytest.mark.parametrize("stones", FOUR_STONES)
def test_black_offers_many_fifths_one_by_one(engine: Talk, stones: str) -> None:
    laid = squares(stones)
    free = {(x, y) for x in range(15) for y in range(15)} - set(laid)
    offer = from_agi(best(engine, "SETRULE FORBIDDEN FIVEMULITY", position(stones), "GO TIME 500"))
    assert 1 == len(offer)
    for _ in range(4):
        assert offer[0] in free
        free -= same_choices(laid, offer[0])
        allowed = "".join(agi(square) for square in sorted(free))
        offer = from_agi(best(engine, f"GO SEARCH {allowed} TIME 300"))


@pytest.mark.parametrize(
    ("rule", "asked_before", "kept"),
    [
        ("FORBIDDEN FIVETWINE", False, "01"),
        ("FORBIDDEN FIVEMULITY", True, agi((9, 9))),
        ("FORBIDDEN", False, agi((9, 9))),
    ],
    ids=["white keeps the worst", "black asked again chooses for black", "without fifths the search is black's own"],
)
def test_fifth_is_chosen_by_the_side_that_may(engine: Talk, rule: str, asked_before: bool, kept: str) -> None:
    """One of the offers gives Black an open three, the other is in a corner."""
    engine.say(f"SETRULE {rule}", position("h8a15i9o1"))
    if asked_before:
        best(engine, "GO TIME 500")

    assert best(engine, f"GO SEARCH {agi((9, 9))}01 TIME 800") == kept
