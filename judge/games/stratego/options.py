"""Which Stratego is played: one set of rules, its differences as options, and the three named sets of them.

`stratego-seed` is the manual of December 2011 as it is written (UCC's manual); `stratego-2011` what the manager of that
commit really did, slips included; `stratego-2012` what the contest of 2012 was played by.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, model_validator

from judge.base.errors import InputError
from judge.base.parsing import parse

Words = Literal["seed", "2011", "2012"]


class StrategoOptions(BaseModel):
    """Every difference between the three rule sets; the defaults are those of `stratego-seed`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    partial_setup: StrictBool = True
    """Any subset of the 40 pieces that has the flag may be set up; else all 40 must be."""
    bomb_survives: StrictBool = False
    """A piece that is no miner dies on a bomb and the bomb stays; else both are destroyed."""
    bomb_word: Literal["DIES", "BOTHDIE"] = "DIES"
    """How it is confirmed that a piece and a bomb destroyed each other. The seed lists OK, ILLEGAL, KILLS and DIES and
    nothing else; both managers say BOTHDIE."""
    equal_ranks: Literal["both-die", "chance"] = "chance"
    """What becomes of equal ranks: both die, or nature decides whether the attacker KILLS (0) or DIES (1)."""
    flag_word: Literal["KILLS", "FLAG", "VICTORY_FLAG"] = "KILLS"
    """How the capture of the flag is confirmed; `KILLS a F` where it is KILLS."""
    no_move: Literal["judged", "always", "unreadable"] = "judged"
    """NO_MOVE: legal where no piece can move, and two in a row end the game by piece value (confirmed as `NO_MOVE`,
    `NO_MOVE ILLEGAL`); or always legal (`NO_MOVE OK`) and never the end; or no word of the language."""
    attrition: Literal["none", "draw", "win"] = "none"
    """Without movable pieces: nothing happens (NO_MOVE must be said); or a draw at the end of a turn where neither side
    has any; or the side to move wins where the other has none (draw where neither has), looked at before and after
    every half-move."""
    turn_limit: Annotated[StrictInt, Field(ge=0)] | None = 5000
    """The game is a draw when turn number `turn_limit` would begin, so one turn less is played; None: no limit. 0 and 1
    play nothing."""
    quiet_limit: StrictBool = False
    """A slip of 2011: a last half-move that was a combat makes the limit an INTERNAL_ERROR."""
    tolerate_illegal: StrictBool = False
    """An illegal move loses the turn and not the game (-i)."""
    tolerate_unreadable: StrictBool = False
    """With `tolerate_illegal`, a reply that is no move loses the turn too."""
    confirm_last: StrictBool = True
    """The half-move that ends the game is confirmed before QUIT."""
    confirm_silence: StrictBool = False
    """A slip of 2011: where no reply came, an empty line is confirmed."""
    echo: Literal["moves", "verbatim"] = "moves"
    """What a confirmation repeats: the move as it was understood, and nothing that is no move; or the reply, whatever
    it holds."""
    own_square: StrictBool = False
    """A slip of 2011: a multiplier below 1 is blamed on the piece's own square and not on the multiplier."""
    setup_word: Literal["blame", "BOTH_ILLEGAL", "BAD_SETUP"] = "blame"
    """The OUTCOME of a bad set-up. `blame`: ILLEGAL or DEFAULT for the side that was asked last, BOTH_ILLEGAL for two
    bad ones."""
    words: Words = "seed"
    """Whose words a log uses for what the rules leave open (no reply, a bad set-up)."""

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
"""The named sets: what `rules` may say."""


def read_options(options: Mapping[str, Any]) -> StrategoOptions:
    """The options that plain values name: those of the set called `rules` (or the seed's), and what else is given.

    `turn_limit = -1` means no limit, for TOML has no null. InputError names the field.
    """
    given = dict(options)
    rules = given.pop("rules", "stratego-seed")
    if rules not in RULES:
        raise InputError(f"stratego options: rules: there is {', '.join(RULES)}, not {rules!r}")
    if given.get("turn_limit") == -1:
        given["turn_limit"] = None
    return parse(StrategoOptions, RULES[rules].model_dump() | given, "stratego options")
