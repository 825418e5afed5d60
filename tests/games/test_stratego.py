"""The rules of Stratego, one story each; what differs between the three sets stands side by side."""

import pytest

from judge.games.stratego import RULES, Stratego
from judge.games.stratego.board import KINDS, Clash, clash_of
from judge.games.stratego.types import BLUE, RED, HalfMove, SetUpRow, SetupRow, Started
from judge.games.types import NATURE, AgentFault, BothAtFault, Chance, Reply, ReplyKind, Verdict, decided
from tests.games.stratego_positions import FULL_BLUE, FULL_RED, line, new, red, set_up, story, toss, verdict


def test_red_gives_four_rows_then_blue_and_red_alone_hears_that_it_starts() -> None:
    game = new()
    for seat, rows in ((RED, FULL_RED), (BLUE, FULL_BLUE)):
        for number, row in enumerate(rows):
            assert SetupRow(seat, number) == game.pending()
            events = game.apply(decided(SetUpRow(row)))
            assert ((Started(RED),) if (seat, number) == (BLUE, 3) else ()) == events

    assert (148, 148) == game.values
    pending = game.pending()
    assert isinstance(pending, HalfMove)
    assert (RED, 1) == (pending.seat, pending.turn)


def test_each_side_sees_its_own_pieces_and_where_the_others_stand() -> None:
    game = set_up(new())

    middle = "..++..++..\n" * 2
    hidden = "##########\n" * 4
    assert "\n".join(FULL_RED) + "\n" + middle + hidden == game.seen_by(RED)
    assert hidden + middle + "\n".join(FULL_BLUE) + "\n" == game.seen_by(BLUE)


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        (("FB8sB479B", *FULL_RED[1:]), 0),
        (("FB8sB479B8 ", *FULL_RED[1:]), 0),
        (("FB8SB479B8", *FULL_RED[1:]), 3),
        (("FB+sB479B8", *FULL_RED[1:]), 0),
        (("#B8sB479B8", *FULL_RED[1:]), 0),
        (("FF8sB479B8", *FULL_RED[1:]), 0),
        ((".B8sB479B8", *FULL_RED[1:]), 148),
        ((*FULL_RED[:3], ""), 148 - 29),
    ],
    ids=["short", "long", "no piece", "lake", "enemy", "two flags", "no flag", "empty"],
)
def test_bad_setup_counts_cells_before_the_error(rows: tuple[str, ...], value: int) -> None:
    game = set_up(new("stratego-2012"), rows)

    assert f"red RED BAD_SETUP 0 {value} 148" == line(game)
    assert (Verdict.ILLEGAL, RED) == verdict(game)
    assert "An illegal setup was made by RED" == game.reason


def test_pieces_may_be_left_out_but_not_the_flag() -> None:
    """UCC's manual: up to 40 pieces. The contest of 2012 wanted them all."""
    rows = red(x0y3="9")
    assert set_up(new("stratego-seed"), rows).end is None
    assert set_up(new("stratego-2011"), rows).end is None
    assert (Verdict.ILLEGAL, RED) == verdict(set_up(new("stratego-2012"), rows))
    assert (Verdict.ILLEGAL, RED) == verdict(set_up(new(), red(x9y0=".", x0y3="9")))


@pytest.mark.parametrize(
    ("rules", "red_is_bad", "blue_is_bad", "result"),
    [
        # The seed names the side on whose turn the game ended, and that is BLUE's, which is asked last.
        ("stratego-seed", True, False, "blue BLUE DEFAULT 0 0 148"),
        ("stratego-seed", False, True, "blue BLUE ILLEGAL 0 148 0"),
        ("stratego-seed", True, True, "neither BOTH BOTH_ILLEGAL 0 0 0"),
        ("stratego-2011", True, False, "red RED BOTH_ILLEGAL 0 0 148"),
        ("stratego-2011", False, True, "blue BLUE BOTH_ILLEGAL 0 148 0"),
        ("stratego-2011", True, True, "neither BOTH BOTH_ILLEGAL 0 0 0"),
        ("stratego-2012", True, False, "red RED BAD_SETUP 0 0 148"),
        ("stratego-2012", False, True, "blue BLUE BAD_SETUP 0 148 0"),
        ("stratego-2012", True, True, "neither BOTH BAD_SETUP 0 0 0"),
    ],
)
def test_a_bad_set_up_does_not_keep_the_other_side_from_being_asked(
    rules: str, red_is_bad: bool, blue_is_bad: bool, result: str
) -> None:
    bad = ("x",) * 4
    game = set_up(new(rules), bad if red_is_bad else FULL_RED, bad if blue_is_bad else FULL_BLUE)

    assert result == line(game)
    if red_is_bad and blue_is_bad:
        assert isinstance(game.end, BothAtFault)
        assert [RED, BLUE] == [fault.seat for fault in game.end.faults]
        assert "An illegal setup was made by BOTH players" == game.reason
    else:
        assert (Verdict.ILLEGAL, RED if red_is_bad else BLUE) == verdict(game)


LATE = AgentFault(Verdict.TURN_TIME, RED, "late")
DEAD = AgentFault(Verdict.CRASH, BLUE, "dead")


def begun(*rows: str) -> Stratego:
    game = new("stratego-2012")
    for row in rows:
        game.apply(decided(SetUpRow(row)))
    return game


def test_a_side_that_fails_in_the_set_up_is_not_asked_again_and_the_other_still_is() -> None:
    game = begun(FULL_RED[0])

    assert () == game.forfeit(LATE)
    assert SetupRow(BLUE, 0) == game.pending()
    for row in FULL_BLUE:
        game.apply(decided(SetUpRow(row)))
    assert LATE == game.end
    assert "red RED BAD_SETUP 0 0 148" == line(game)


def test_two_sides_that_fail_in_the_set_up_are_two_faults() -> None:
    game = begun()
    game.forfeit(LATE)
    game.apply(decided(SetUpRow(FULL_BLUE[0])))
    game.forfeit(DEAD)

    assert BothAtFault((LATE, DEAD)) == game.end
    assert "neither BOTH BAD_SETUP 0 0 0" == line(game)


def test_the_side_that_waits_may_fail_while_the_other_sets_up() -> None:
    """The rows of the side that is asked are not lost by it."""
    game = begun(FULL_RED[0])
    game.forfeit(DEAD)

    assert SetupRow(RED, 1) == game.pending()
    for row in FULL_RED[1:]:
        game.apply(decided(SetUpRow(row)))
    assert (Verdict.CRASH, BLUE) == verdict(game)


def test_a_protocol_that_cannot_read_a_row_makes_a_bad_set_up() -> None:
    game = new()
    game.apply(Reply(ReplyKind.UNREADABLE, "?"))

    assert SetupRow(BLUE, 0) == game.pending()


NO_WAY = "Selected unit cannot move that way"
TAKEN = "Attempted move into square occupied by neutral or allied piece"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("10 3 DOWN", "Coords outside board"),
        ("-1 3 DOWN", "Coords outside board"),
        ("0 2147483647 DOWN", "Coords outside board"),
        ("0 5 DOWN", "Move does not select a piece"),
        ("0 6 UP", "Selected piece belongs to other player"),
        ("2 4 UP", "Selected piece belongs to other player"),
        ("3 3 DOWN", "Selected piece is not mobile (FLAG or BOMB)"),
        ("0 0 DOWN", "Selected piece is not mobile (FLAG or BOMB)"),
        *(
            (said, NO_WAY)
            for said in ("0 3 DOWN 0", "0 3 DOWN -5", "0 3 DOWN x", "1 3 DOWN 2", "0 3 LEFT", "0 3 LEFT 9")
        ),
        *((said, TAKEN) for said in ("9 3 DOWN 4", "6 3 DOWN 2", "2 3 DOWN", "0 3 RIGHT", "0 3 UP")),
    ],
)
def test_an_illegal_move_loses_for_its_reason(said: str, reason: str) -> None:
    game = story(f"stratego-2012\n{said} ->\n= illegal RED; red RED ILLEGAL 1 148 148; {reason}")

    assert f"{said} ILLEGAL" == game.half_moves[-1].text


@pytest.mark.parametrize("attacker", "123456789s")
@pytest.mark.parametrize("defender", "123456789sBF")
def test_survivors_of_a_fight(attacker: str, defender: str) -> None:
    """Rank 1 is the strongest; the spy has 10. UCC's manual, GAME RULES."""
    order = "123456789s"
    if defender == "F":
        wanted = Clash.FLAG
    elif defender == "B":
        wanted = Clash.KILLS if attacker == "8" else Clash.BOTH_DIE
    elif attacker == defender:
        wanted = Clash.EVEN
    elif attacker == "s" and defender == "1":
        wanted = Clash.KILLS
    else:
        wanted = Clash.KILLS if order.index(attacker) < order.index(defender) else Clash.DIES

    assert wanted is clash_of(attacker, defender, bomb_survives=False)
    survives = clash_of(attacker, defender, bomb_survives=True)
    assert (Clash.DIES if wanted is Clash.BOTH_DIE else wanted) is survives


DUEL = "0 3 DOWN; 9 6 UP; 0 4 DOWN; 9 5 DOWN"


def duel(attacker: str, defender: str, rules: str, confirmation: str) -> Stratego:
    """RED's `attacker` stands before BLUE's `defender` and attacks it; both have two more pieces."""
    army = f"RED {attacker}@0,3 7@5,3 9@9,3; BLUE {defender}@0,6 7@5,6 9@9,6"
    return story(f"{rules} partial_setup=true\n{army}\n{DUEL}\n0 5 DOWN -> {confirmation}")


def column(game: Stratego, seat: int) -> str:
    """Column 0 from row 4 down to row 7, as `seat` sees it."""
    return "".join(row[0] for row in game.seen_by(seat).split("\n")[4:8])


@pytest.mark.parametrize(
    ("fighters", "rules", "outcome", "for_red", "for_blue"),
    [
        # tests/conformance/test_stratego.py has whole games with other fights of 2012.
        ("s1", "stratego-2012", "KILLS s 1", "..s.", "..#."),
        ("1s", "stratego-2012", "KILLS 1 s", "..1.", "..#."),
        ("55", "stratego-2012", "BOTHDIE 5 5", "....", "...."),
        *(("8B", rules, "KILLS 8 B", "..8.", "..#.") for rules in RULES),
        # The seed's OUTCOME words are OK, ILLEGAL, KILLS and DIES.
        ("3B", "stratego-seed", "DIES 3 B", "....", "...."),
        ("3B", 'stratego-seed bomb_word="BOTHDIE"', "BOTHDIE 3 B", "....", "...."),
        ("3B", "stratego-2011", "BOTHDIE 3 B", "....", "...."),
        ("3B", "stratego-2012", "DIES 3 B", "..#.", "..B."),
    ],
)
def test_who_is_left_after_a_fight(fighters: str, rules: str, outcome: str, for_red: str, for_blue: str) -> None:
    attacker, defender = fighters[0], fighters[1]
    game = duel(attacker, defender, rules, f"0 5 DOWN {outcome}")

    assert (for_red, for_blue) == (column(game, RED), column(game, BLUE))
    left = [for_red.strip(".#"), for_blue.strip(".#")]
    assert tuple(4 + 2 + (KINDS[letter].value if letter else 0) for letter in left) == game.values


@pytest.mark.parametrize("rules", ["stratego-seed", "stratego-2011"])
@pytest.mark.parametrize(("outcome", "word", "left"), [(0, "KILLS", "..5."), (1, "DIES", "..#.")])
def test_equal_ranks_are_tossed_for_where_the_rules_know_no_fight_that_kills_both(
    rules: str, outcome: int, word: str, left: str
) -> None:
    game = duel("5", "5", rules, "")

    assert Chance(NATURE, 2) == game.pending()
    assert {Chance} == {kind for kind in Stratego.requests if issubclass(kind, Chance)}
    assert [f"0 5 DOWN {word} 5 5"] == toss(game, outcome)
    assert left == column(game, RED)
    assert BLUE == game.pending().seat


@pytest.mark.parametrize(
    ("rules", "confirmation"),
    [("stratego-seed", "0 5 DOWN KILLS 3 F"), ("stratego-2011", "0 5 DOWN FLAG"), ("stratego-2012", "")],
)
def test_the_flag_ends_the_game(rules: str, confirmation: str) -> None:
    """Its last half-move is confirmed but for 2012; nothing is moved or removed any more."""
    game = story(f"""
        {rules} partial_setup=true
        RED 3@0,3; BLUE F@0,6 .@9,9 7@5,6
        0 3 DOWN; 5 6 UP; 0 4 DOWN; 5 5 UP; 0 5 DOWN -> {confirmation}
        = win RED; red RED VICTORY 3 8 4; Captured the flag
    """)
    assert rules != "stratego-2012" or game.half_moves[-1].text == "0 5 DOWN VICTORY_FLAG"
