"""`judge contest plan`: games, duration and missing items of a contest or a cup."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.text import duration, printable, titled
from judge.cli.options import HERE, ContestOrCupArgument, JsonOption, StoreOption, cup_at, refuse_given
from judge.terminal.output import make_table, print_json, print_table

if TYPE_CHECKING:
    from judge.contest.estimate import ContestEstimate
    from judge.contest.plan import Planned
    from judge.cup.plan import PlannedCup
    from judge.cup.run import LeagueEstimate

EXAMPLES = """
judge contest plan cup/contest.toml
judge contest plan spring/cup.toml --cores 128 --json
"""


def plan(
    contest: ContestOrCupArgument = HERE,
    store: StoreOption = "",
    cores: Annotated[
        int, typer.Option(min=0, help="Cores for the games of a cup. Default: those of its machines, or of this one.")
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Print the number of games, how long they can take on this machine, and problems. Exits with 1 if any."""
    from judge.contest.estimate import estimate_contest
    from judge.contest.plan import load_plan
    from judge.contest.slots import slots_on_host
    from judge.publish.before_export import ratings_problems

    if (cup := cup_at(contest)) is not None:
        refuse_given("is not for a cup", store=store)
        _plan_cup(cup, cores, as_json=as_json)
        return
    refuse_given("is for a cup", cores=cores)
    planned = load_plan(contest)
    if not planned.keeps_own_database:
        planned = planned.with_store(store)
    found = estimate_contest(planned)
    # More agents may come while submissions are open.
    listed = [agent.name or agent.path for agent in planned.plan.agents]
    agents = None if planned.waits_for() else {*found.agents, *listed}
    ratings = ratings_problems(planned, planned, agents)
    found = dataclasses.replace(found, missing=[*found.missing, *ratings])
    policy = planned.policy
    slots = len(slots_on_host(planned.plan.slots.cores, sharing=policy.box.sharing, ponders=policy.clock.ponder))
    if as_json:
        document = dataclasses.asdict(found) | {
            "slots": slots,
            "hours": found.hours(slots, found.longest_s),
            "expected_hours": found.hours(slots, found.expected_s),
            "seed": planned.plan.seed,
            "ratings": {agent: rated.model_dump() for agent, rated in found.ratings.items()},
        }
        print_json(document, indent=None)
    else:
        _show(planned, found, slots)
    if found.missing:
        raise SystemExit(1)


def _show(planned: Planned, found: ContestEstimate, slots: int) -> None:
    from judge.contest.estimate import EXPECTED_ANSWERS, longest_words
    from judge.site.rules import games_of_pair

    policy, chosen = planned.policy, planned.plan.format
    name = printable(titled(planned.name, planned.plan.title))
    print(f"{name}: {policy.name}, {chosen.name}, {len(found.agents)} agents")
    print(f"  agents   {printable(', '.join(found.agents), 2000)}")
    about = "" if found.is_exact else "about "
    if chosen.has_rounds:
        count = games_of_pair(chosen)
        each = f"{chosen.games} a pairing" if count is None else f"{count} of each pair"
        print(f"  games    {about}{found.games} in {found.rounds} rounds, {each}")
    else:
        print(f"  games    {about}{found.games}, each drawn when a slot is free")
    if found.seats:
        print(f"  seats    {printable(', '.join(found.seats), 2000)} in the first league")
    _show_left_out(found)
    print(f"  clocks   {policy.clock.words}, {policy.limits.memory_bytes >> 20} MiB")
    for agent, clock in sorted(planned.clocks.items()):
        print(f"           {printable(agent)}: {clock}")
    print(f"  time     {longest_words(planned, found, slots)}")
    if found.expected_s is not None and (expected := found.hours(slots, found.expected_s)) is not None:
        each = f"{duration(found.expected_s * 1000)} a game"
        print(f"           about {duration(expected * 3_600_000)} with {EXPECTED_ANSWERS} answers of each seat, {each}")
    seed = planned.plan.seed
    chance = (
        "secret, drawn and committed to when the contest is announced or begins, revealed at its end"
        if seed is None
        else f"fixed by seed = {seed}: all random choices are predictable; without this line a secret seed is drawn"
    )
    print(f"  chance   {chance}")
    if words := planned.plan.windows.words:
        print(f"  schedule {words}")
    if not planned.plan.store:
        print("  store    not opened: contest.toml names a database outside its folder")
        print("           name it with --store URL, to include submitted agents")
    if found.folders:
        print(f"  folders  {printable(found.folders, 2000)}")
    for sentence in found.warnings:
        print(f"  warning  {printable(sentence, 2000)}")
    for sentence in found.missing:
        print(f"  missing  {printable(sentence, 2000)}")
    if found.unchecked:
        print(f"  checks   no passed check with these clocks: {printable(', '.join(found.unchecked), 2000)}")
        print(f"           {printable(planned.plan.check_command, 2000)} checks all requirements of the contest")
    for copies in found.copies:
        print(f"  copies   {printable(copies, 2000)}: they play as separate agents")
    if not found.missing:
        print(f"nothing is missing; {planned.waits_for() or f'judge contest run {planned.path}'}")


def _show_left_out(found: ContestEstimate) -> None:
    if not found.ratings:
        return
    count = len(found.left_out)
    print(f"  skipped  {count} pair{'s' * (count != 1)} by their ratings: {found.games_saved} games fewer")
    below: dict[str, list[str]] = {}
    for pair in found.left_out:
        group = f" ({pair.group})" if pair.group else ""
        below.setdefault(pair.first, []).append(f"{pair.second}{group}")
    for agent, rated in sorted(found.ratings.items(), key=lambda item: (-item[1].rating, item[0])):
        rating = f"{rated.rating:g}" if rated.rating else "no rating, meets all"
        without = f"; does not meet {', '.join(below[agent])}" if agent in below else ""
        print(f"           {printable(f'{agent}: {rating} ({rated.reason}){without}', 4000)}")


def _plan_cup(cup: Path, cores: int, *, as_json: bool) -> None:
    from judge.contest.slots import slots_on_host
    from judge.cup.plan import load_cup
    from judge.cup.run import cup_hours, estimate_cup

    planned = load_cup(cup)
    found = estimate_cup(planned)
    cores = cores or sum(machine.cores for machine in planned.cup.machines) or len(slots_on_host(1))
    hours = cup_hours(planned, found, cores)
    missing = [sentence for each in found for sentence in each.missing]
    warnings = [f"{each.league.name}: {sentence}" for each in found for sentence in each.found.warnings]
    if as_json:
        leagues = [
            {
                "league": each.league.name,
                "agents": each.agents,
                "pairs": each.pairs,
                "left_out": len(each.found.left_out),
                "games": each.found.games,
            }
            for each in found
        ]
        known = None if hours is None else dataclasses.asdict(hours)
        print_json(
            {"leagues": leagues, "cores": cores, "hours": known, "missing": missing, "warnings": warnings}, indent=None
        )
    else:
        _show_leagues(planned, found)
        if hours is None:
            print("  time     unbounded: a policy's clock.match_ms is 0")
        else:
            longest, busy = (duration(each * 3_600_000) for each in (hours.most, hours.busy))
            print(f"  time     at most {longest} on {cores} core{'s' * (cores != 1)} if agents use all their time")
            print(f"           {busy} if no core is ever idle")
        for sentence in warnings:
            print(f"  warning  {printable(sentence, 2000)}")
        for sentence in missing:
            print(f"  missing  {printable(sentence, 2000)}")
        if not missing:
            print(f"nothing is missing; judge contest run {planned.path}")
    if missing:
        raise SystemExit(1)


def _show_leagues(planned: PlannedCup, found: list[LeagueEstimate]) -> None:
    columns = ("league", "policy", "agents", "pairs", "left out", "games", "begins")
    rows = [
        (
            each.league.name,
            each.plan.policy,
            str(each.agents),
            str(each.pairs),
            str(len(each.found.left_out)),
            f"{'' if each.found.is_exact else 'about '}{each.found.games}",
            f"after {each.league.after}"
            if each.league.after
            else planned.contest(each.league.name).plan.windows.words or "at once",
        )
        for each in found
    ]
    total = (sum(each.pairs for each in found), sum(len(each.found.left_out) for each in found))
    games = sum(each.found.games for each in found)
    print(f"{planned.cup.name}: {len(found)} leagues, {len(planned.cup.entries)} entries")
    table = make_table(columns, [*rows, ("all", "", "", *map(str, (*total, games)), "")], numbers=(2, 3, 4, 5))
    print_table(table)
