"""Rule sets of Stratego.

`stratego-seed` is UCC's manual of December 2011; `stratego-2011` the manager of that commit with its bugs;
`stratego-2012` the contest of 2012.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StrictBool, StrictInt, model_validator

from judge.base.errors import InputError
from judge.base.parsing import FrozenModel, parse

Words = Literal["seed", "2011", "2012"]


class StrategoOptions(FrozenModel):
    """Differences between the three rule sets; the defaults are `stratego-seed`."""

    partial_setup: StrictBool = True
    """Any subset of the 40 pieces with the flag may be set up; else all 40 are required."""
    bomb_survives: StrictBool = False
    """A bomb survives all attackers but miners; else both are destroyed."""
    bomb_word: Literal["DIES", "BOTHDIE"] = "DIES"
    """Confirmation of a piece and a bomb that destroyed each other. The seed does not list BOTHDIE; both managers print
    it.
    """
    equal_ranks: Literal["both-die", "chance"] = "chance"
    """Equal ranks: both die, or chance decides whether the attacker KILLS (0) or DIES (1)."""
    flag_word: Literal["KILLS", "FLAG", "VICTORY_FLAG"] = "KILLS"
    """Confirmation of a captured flag; `KILLS a F` for KILLS."""
    no_move: Literal["judged", "always", "unreadable"] = "judged"
    """NO_MOVE: `judged` is legal if no piece can move, and two in a row end the game by value (confirmed as `NO_MOVE`,
    `NO_MOVE ILLEGAL`); `always` is always legal (`NO_MOVE OK`) and never ends it; `unreadable` is no valid reply.
    """
    attrition: Literal["none", "draw", "win"] = "none"
    """Without movable pieces: `none` has no effect (NO_MOVE is required); `draw` at the end of a turn if both sides
    lack them; `win` for the side to move if the other lacks them (draw if both do), checked before and after every
    half-move.
    """
    turn_limit: Annotated[StrictInt, Field(ge=0)] | None = 5000
    """The game is a draw when this turn number would begin, so one turn fewer is played; None: no limit."""
    quiet_limit: StrictBool = False
    """Bug of 2011: the limit after a combat is an INTERNAL_ERROR."""
    tolerate_illegal: StrictBool = False
    """An illegal move loses the turn and not the game (-i)."""
    tolerate_unreadable: StrictBool = False
    """With `tolerate_illegal`, an unreadable reply also loses only the turn."""
    confirm_last: StrictBool = True
    """The half-move that ends the game is confirmed before QUIT."""
    confirm_silence: StrictBool = False
    """Bug of 2011: a missing reply is confirmed by an empty line."""
    echo: Literal["moves", "verbatim"] = "moves"
    """Text of confirmations: the parsed move (nothing for other replies), or the reply unchanged."""
    own_square: StrictBool = False
    """Bug of 2011: the error for a multiplier below 1 names the piece's own square."""
    setup_word: Literal["blame", "BOTH_ILLEGAL", "BAD_SETUP"] = "blame"
    """OUTCOME of a bad set-up. `blame`: ILLEGAL or DEFAULT for the side asked last, BOTH_ILLEGAL for two bad ones."""
    words: Words = "seed"
    """Wording of logs where the rules leave it open (missing reply, bad set-up)."""

    @model_validator(mode="after")
    def _no_contradiction(self) -> Self:
        if self.tolerate_unreadable and not self.tolerate_illegal:
            raise ValueError("tolerate_unreadable needs tolerate_illegal")
        if self.tolerate_unreadable and self.echo == "moves":
            raise ValueError("tolerate_unreadable needs echo = 'verbatim', or nothing could be confirmed")
        return self


RULES: dict[str, StrategoOptions] = {
    "stratego-seed": StrategoOptions(),
    "stratego-2011": StrategoOptions(
        bomb_word="BOTHDIE",
        flag_word="FLAG",
        no_move="always",
        attrition="draw",
        quiet_limit=True,
        confirm_silence=True,
        echo="verbatim",
        own_square=True,
        setup_word="BOTH_ILLEGAL",
        words="2011",
    ),
    "stratego-2012": StrategoOptions(
        partial_setup=False,
        bomb_survives=True,
        bomb_word="BOTHDIE",
        equal_ranks="both-die",
        flag_word="VICTORY_FLAG",
        no_move="unreadable",
        attrition="win",
        confirm_last=False,
        echo="verbatim",
        setup_word="BAD_SETUP",
        words="2012",
    ),
}


def read_options(options: Mapping[str, Any]) -> StrategoOptions:
    """Options of the set `rules` (default: the seed's), overridden by the other keys.

    `turn_limit = -1` means no limit: TOML has no null. Raises InputError.
    """
    given = dict(options)
    rules = given.pop("rules", "stratego-seed")
    if rules not in RULES:
        raise InputError(f"stratego options: rules: there is {', '.join(RULES)}, not {rules!r}")
    if given.get("turn_limit") == -1:
        given["turn_limit"] = None
    return parse(StrategoOptions, RULES[rules].model_dump() | given, "stratego options")
