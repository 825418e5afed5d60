"""`judge evaluate` and `judge sprt`: sequential tests of a candidate against its parent or a pool, and of counts."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.text import printable
from judge.cli.options import JsonOption, complete_agent, number
from judge.statistics.scales import MAX_SPRT_ELO, SprtModel
from judge.terminal.output import fail, interval, note, print_json, print_notice

if TYPE_CHECKING:
    from judge.contest.evaluation import StopRule
    from judge.statistics.sprt import PairedScores

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

EXAMPLES = {
    "evaluate": """
judge contest key author.key
judge evaluate ./mine --parent ./mine-before --against pool --key author.key
judge evaluate ./mine --against pool --width 0.05 --key author.key
judge verify pool/evaluations/*.json

Exit codes: 0 the evaluation is over; 1 no verdict, because all pairs ended alike, or the judge or its host failed; 2
the command was wrong.
""",
    "sprt": """
judge sprt 379 10170 21828 10640 343 --elo1 2 --model normalized
judge sprt 36027 68692 36433 --elo0 0 --elo1 5
""",
}


def evaluate(
    candidate: Annotated[
        str, typer.Argument(help="House agent, executable, or directory.", autocompletion=complete_agent)
    ],
    against: Annotated[Path, typer.Option(metavar="POOL", help="The pool.toml, or the folder that contains it.")],
    key: Annotated[Path, typer.Option(help="Your private key; create one with judge contest key.")],
    parent: Annotated[str, typer.Option(help="The agent to compare with.", autocompletion=complete_agent)] = "",
    elo0: Elo0Option = 0,
    elo1: Elo1Option = 50,
    alpha: AlphaOption = 0.05,
    beta: BetaOption = 0.05,
    width: Annotated[
        float | None,
        typer.Option(
            parser=number(0, 1),
            help="Instead of a test: stop when the 95 % interval of the score has this width, such as 0.05.",
        ),
    ] = None,
    games: Annotated[int, typer.Option(min=2, help="Maximum number of games of the candidate.")] = 2000,
    as_json: JsonOption = False,
) -> None:
    """Play CANDIDATE against a fixed pool until a test decides whether it is stronger, and sign the verdict.

    All candidates play the same games. With --parent both agents play them and are compared pair by pair. Otherwise the
    candidate is compared with the pool. After an interruption the same command continues.
    """
    from judge.api.evaluations import NoVerdictError
    from judge.api.evaluations import evaluate as evaluated
    from judge.base.parsing import parse as parse_values
    from judge.contest.evaluation import StopRule

    test = None if width is not None else {"elo0": elo0, "elo1": elo1, "alpha": alpha, "beta": beta}
    rule = parse_values(StopRule, {"test": test, "width": width, "pairs": games // 2}, "judge evaluate")

    def progress(scores: PairedScores, played: int) -> None:
        note(f"{played:>6} games  {_so_far(scores, rule)}")

    try:
        found = evaluated(
            candidate, against=against, key=key, rule=rule, parent=parent, progress=progress, notify=print_notice
        )
    except NoVerdictError as error:
        fail(str(error), 1)
    evaluation = found.evaluation
    if as_json:
        print_json({"evaluation": evaluation.model_dump(mode="json"), "file": str(found.path)})
        return
    print(f"{printable(evaluation.candidate.name, 80)}: {evaluation.verdict}")
    print(f"  {_so_far(found.scores, rule)}")
    print(f"  {len(evaluation.games)} games, pool {evaluation.pool[:16]}, signed in {found.path}")
    if not rule.is_reached(found.scores):
        note(
            f"judge: it stopped after {games} games of the candidate; to continue, repeat the command with more --games"
        )


def _so_far(scores: PairedScores, rule: StopRule) -> str:
    score, low, high = (100 * each for each in scores.interval)
    if scores.are_differences:
        comparison = "less" if score < 0 else "more"
        text = f"scores {abs(score):.1f} percentage points {comparison} than its parent ({low:+.1f} to {high:+.1f})"
    else:
        text = f"{score:.1f} % of the points ({low:.1f} to {high:.1f})"
    if rule.test is None:
        return text
    state = scores.state(rule.test)
    return f"{text}, LLR {state.llr:.2f} ({state.lower:.2f} to {state.upper:.2f})"


def sprt(
    counts: Annotated[
        list[int],
        typer.Argument(
            metavar="COUNTS", min=0, help="Lost, drawn and won games; or pairs LL LD WL+DD WD WW; or LL LD DD WL WD WW."
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
    kinds = ("LL", "LD", "WL+DD", "WD", "WW") if counted.are_pairs else ("lost", "drawn", "won")
    print("counts      " + ", ".join(f"{kind} {count}" for kind, count in zip(kinds, counted.counts, strict=True)))
    if estimate is not None:
        print(f"score       {100 * estimate.score:.2f} % of {estimate.games} games")
        for scale, found in (("Elo", estimate.elo), ("normalized", estimate.normalized)):
            print(f"{scale:<11} {interval(found.value, found.low, found.high, 2)}")
        print(f"LOS         {100 * estimate.los:.2f} %")
    print(f"LLR         {state.llr:.5f} ({state.lower:.2f} to {state.upper:.2f}): {state.decision}")
