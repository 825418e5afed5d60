"""Prints the certainty of places."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from judge.base.text import printable
from judge.terminal.contest_tables import bracket_signs
from judge.terminal.output import interval, make_table, print_table

if TYPE_CHECKING:
    from judge.statistics.certainty import Certainty
    from judge.tournament.certain_places import StageCertainty

_MAX_REVERSED = 20


def print_certainty_words(stages: "Sequence[StageCertainty]", *, has_brackets: bool = True) -> None:
    """Print the sentences of each stage, and the meaning of ranges and brackets if the table has them."""
    for stage in stages:
        prefix = f"{printable(stage.stage)}: " if stage.stage else ""
        print(prefix + printable(" ".join(stage.sentences()), 600))
        numbers = [str(game.number) for game in stage.reversed_games[:_MAX_REVERSED] if game.number]
        if numbers:
            more = "" if len(numbers) == stage.certainty.reversed_games else " ..."
            print(f"{prefix}reversed games: {', '.join(numbers)}{more}")
    if has_brackets and any(stage.brackets for stage in stages):
        print("A range such as 2-5 contains the true place. All ranges together are correct with a confidence of 95 %.")
        print("A bracket connects agents that the games do not separate.")


def certainty_document(stages: "Sequence[StageCertainty]") -> dict[str, Any]:
    """The certainty as JSON values: that of the first stage, and all in `stages` if there are several."""
    documents = [_document(stage) for stage in stages]
    if len(documents) == 1:
        return documents[0]
    return {**documents[0], "stages": documents}


def _document(stage: "StageCertainty") -> dict[str, Any]:
    found, above = stage.certainty, stage.above
    figures = ("first", "second", "gap", "half_width", "half_width_phi", "phi", "deviance", "deviance_p")
    places = ("place", "low", "high", "low_phi", "high_phi")
    return {
        **({"stage": stage.stage} if stage.stage else {}),
        **{name: getattr(found, name) for name in figures},
        "neighbours": len(found.ranks) - 1,
        "neighbours_not_separated": found.strength.neighbours_not_separated,
        "groups": found.strength.groups,
        "candidates": [
            {"agent": rank.agent, "chance": rank.chance}
            for rank in found.ranks
            if rank.agent in found.strength.candidates
        ],
        "repetition": asdict(found.repetition),
        "reversed_games": found.reversed_games,
        "new_first": found.new_first,
        "reversals": [asdict(each) for each in found.reversals],
        "reversed_game_numbers": [game.number for game in stage.reversed_games if game.number],
        "further_games": None
        if found.further_games is None
        else dict(zip(("50", "80"), found.further_games, strict=True)),
        "further_share": found.further_share,
        "ranks": [asdict(rank) | {place: getattr(rank, place) + above for place in places} for rank in found.ranks],
        "rings": [asdict(pair) for pair in found.unusual],
        "sentences": list(stage.sentences()),
    }


def print_certainty(stages: "Sequence[StageCertainty]") -> None:
    """Print a table of ranges for each stage, and its figures and sentences."""
    console = Console(highlight=False)
    for stage in stages:
        signs = dict(bracket_signs(stage, not console.options.ascii_only))
        table = make_table(("place", "range", "", "phi = 1", "agent", "rating", "strongest"), numbers=(0, 1, 3, 5, 6))
        table.title = Text(printable(stage.stage)) if stage.stage else None
        for rank in stage.certainty.ranks:
            range_phi, range_1 = (
                "-".join(str(end + stage.above) for end in dict.fromkeys(ends))
                for ends in ((rank.low_phi, rank.high_phi), (rank.low, rank.high))
            )
            table.add_row(
                str(rank.place + stage.above),
                range_phi,
                signs.get(rank.agent, ""),
                range_1,
                Text(printable(rank.agent, 32)),
                f"{rank.elo:+.0f}",
                f"{100 * rank.chance:.1f} %" if rank.chance else "",
            )
        print_table(table, console)
        _print_figures(stage.certainty)
    print_certainty_words(stages)


def _print_figures(found: "Certainty") -> None:
    gap = interval(found.gap, found.gap - found.half_width_phi, found.gap + found.half_width_phi)
    print(f"gap             {gap} Elo between first and second, draws as halves")
    print(f"inflation       phi = {found.phi:.2f}, p = {found.deviance_p:.3g}: the deviance of pairs from the ratings")
    conclusions = found.strength
    print(f"not separated   {conclusions.neighbours_not_separated} of {len(found.ranks) - 1} neighbours, tested singly")
    print(f"groups          {len(conclusions.groups)}")
    print(f"candidates      {', '.join(printable(agent, 32) for agent in conclusions.candidates)}")
    for each in found.reversals:
        games = "1 game" if each.games == 1 else f"{each.games} games"
        print(f"reversed        {games} that {printable(each.winner, 32)} won against {printable(each.loser, 32)}")
    if found.further_games is not None:
        even, likely = found.further_games
        print(f"further games   {even} of first and second separate them with 50 %, {likely} with 80 %")
    for pair in found.unusual:
        names = f"{printable(pair.agent, 32)} against {printable(pair.opponent, 32)}"
        print(
            f"ring            {names}: {pair.score:g} of {pair.games}, expected {pair.expected:.1f}, p = {pair.p:.2g}"
        )
