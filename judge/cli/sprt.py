"""`judge sprt`: compute Elo and a sequential test from counts of results."""

import dataclasses
from typing import Annotated

import typer

from judge.cli.options import JsonOption, number
from judge.statistics.scales import MAX_SPRT_ELO, SprtModel
from judge.terminal.output import interval, print_json

_ELO = number(-MAX_SPRT_ELO, MAX_SPRT_ELO)
_PROBABILITY = number(0, 0.5)
Elo0Option = Annotated[float, typer.Option(parser=_ELO, help="Elo difference under H0.")]
Elo1Option = Annotated[float, typer.Option(parser=_ELO, help="Elo difference under H1.")]
AlphaOption = Annotated[
    float, typer.Option(parser=_PROBABILITY, help="The probability that H1 is accepted if H0 is true.")
]
BetaOption = Annotated[
    float, typer.Option(parser=_PROBABILITY, help="The probability that H0 is accepted if H1 is true.")
]

EXAMPLES = """
judge sprt 379 10170 21828 10640 343 --elo1 2 --model normalized
judge sprt 36027 68692 36433 --elo0 0 --elo1 5
"""

_GAMES, _PAIRS = ("lost", "drawn", "won"), ("LL", "LD", "WL+DD", "WD", "WW")


def sprt(
    counts: Annotated[
        list[int],
        typer.Argument(
            metavar="COUNTS",
            min=0,
            help="Lost, drawn and won games; or pairs LL LD WL+DD WD WW; or LL LD DD WL WD WW.",
        ),
    ],
    elo0: Elo0Option = 0,
    elo1: Elo1Option = 10,
    alpha: AlphaOption = 0.05,
    beta: BetaOption = 0.05,
    model: Annotated[SprtModel, typer.Option(help="The scale of --elo0 and --elo1.")] = "logistic",
    as_json: JsonOption = False,
) -> None:
    """Compute Elo, normalized Elo and a sequential test from counts of games or of pairs."""
    from judge.base.parsing import parse
    from judge.statistics.match_estimate import MatchCounts, estimate_match
    from judge.statistics.sprt import Sprt

    options = {"elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta, "model": model}
    test = parse(Sprt, options, "judge sprt")
    counted = MatchCounts.of_numbers(counts)
    estimate, state = estimate_match(counted), test.state(counted)
    if as_json:
        said = None if estimate is None else dataclasses.asdict(estimate)
        print_json({"counts": counted.counts, "estimate": said, "sprt": dataclasses.asdict(state)})
        return
    kinds = _PAIRS if counted.are_pairs else _GAMES
    print("counts      " + ", ".join(f"{kind} {count}" for kind, count in zip(kinds, counted.counts, strict=True)))
    if estimate is not None:
        print(f"score       {100 * estimate.score:.2f} % of {estimate.games} games")
        for scale, found in (("Elo", estimate.elo), ("normalized", estimate.normalized)):
            print(f"{scale:<11} {interval(found.value, found.low, found.high, 2)}")
        print(f"LOS         {100 * estimate.los:.2f} %")
    print(f"LLR         {state.llr:.5f} ({state.lower:.2f} to {state.upper:.2f}): {state.decision}")
