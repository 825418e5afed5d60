"""Makes a contest folder from another manager's tournament: contest.toml, openings and programs, unpacked in a box."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from judge.agents.agents import stage_agent
from judge.base.durable_files import new_directories, write_durably
from judge.base.errors import InputError
from judge.base.owner import owned_directory
from judge.base.text import printable
from judge.base.toml_files import toml_quoted
from judge.catalog.managers import ImportedAgent, ImportedContest
from judge.contest.file_names import PLAN_FILE
from judge.contest.plan import load_plan
from judge.submissions.intake import IntakeLimits
from judge.submissions.path_checks import RefusedError
from judge.submissions.trees import TaskHost, is_archive, root_of, unpack_upload

OPENINGS, POLICY, PROGRAMS, RATINGS = "openings.txt", "policy.toml", "programs", "ratings.csv"

Tell = Callable[[ImportedAgent, str, bool], None]
"""Called per agent with its contents or an error, and whether it can play."""


def needs_boxes(contest: ImportedContest) -> bool:
    """Whether a program is in an archive."""
    return any(is_archive(agent.path.name) for agent in contest.agents)


def write_imported(contest: ImportedContest, folder: Path, host: TaskHost, tell: Tell) -> None:
    """Make the new directory `folder`.

    Writes nothing and raises InputError if programs cannot be played; `tell` receives each. Raises HostError if writing
    fails.
    """
    with new_directories([folder], "a contest", "nothing was imported") as (partial,):
        programs = partial / PROGRAMS
        programs.mkdir(parents=True)
        bad = [agent.name for agent in contest.agents if not _bring(agent, programs, host, tell)]
        if bad:
            raise InputError(
                f"{contest.agents[0].named_in}: {len(bad)} of {len(contest.agents)} programs cannot be played: "
                f"{', '.join(bad[:20])}; replace them, or remove them from the line. Nothing was written"
            )
        if contest.openings:
            write_durably(partial / OPENINGS, "".join(f"{line}\n" for line in contest.openings).encode())
        if contest.skip_difference:
            rows = "".join(f"{agent},{rating}\n" for agent, rating in contest.ratings.items())
            write_durably(partial / RATINGS, f"agent,rating\n{rows}".encode())
        policy, colon, variant = contest.policy.partition(":")
        if policy.endswith(".toml"):
            shutil.copyfile(policy, partial / POLICY)
            contest = replace(contest, policy=f"{POLICY}{colon}{variant}")
        write_durably(partial / PLAN_FILE, plan_text(contest).encode())
        load_plan(partial)


def _bring(agent: ImportedAgent, programs: Path, host: TaskHost, tell: Tell) -> bool:
    limits = IntakeLimits()
    try:
        if agent.path.stat().st_size > limits.upload_bytes:
            raise RefusedError(f"it has more than {limits.upload_bytes} bytes")
        with owned_directory() as room:
            description = unpack_upload(agent.path, agent.path.name, room / "unpacked", limits, host)
            root = root_of(room / "unpacked")
            shutil.copytree(root, programs / agent.name)
            (staging := room / "staging").mkdir()
            stage_agent(str(programs / agent.name), staging)
    except (RefusedError, InputError) as error:
        tell(agent, str(error).replace(f"{programs}/", ""), False)
        return False
    tell(agent, description, True)
    return True


def plan_text(contest: ImportedContest) -> str:
    """Text of contest.toml; settings without an equivalent become comments."""
    changes = "".join(f"    {toml_quoted(change)},\n" for change in contest.changes)
    lines = [
        "# Imported. What each line may be: judge contest init shows a contest.toml with all of them.",
        *(f"# {printable(remark, 600)}" for remark in contest.remarks),
        f"name = {toml_quoted(contest.name)}",
        f"policy = {toml_quoted(contest.policy)}   # every number that is enforced: judge policies",
        f"change = [\n{changes}]" if changes else "change = []",
        "",
        "[format]",
        f"name = {toml_quoted(contest.format)}",
        f"games = {contest.games}   # of a pairing: each opening twice, with colours changed",
    ]
    if contest.skip_difference:
        lines.append(f"skip = {{ rating_difference = {contest.skip_difference}, ratings = {toml_quoted(RATINGS)} }}")
    if contest.openings:
        lines += ["", "[openings]", f"file = {toml_quoted(OPENINGS)}"]
    lines += ["", "[failures]", f"limit = {contest.failure_limit}", f"after = {contest.failures_after}"]
    for agent in contest.agents:
        lines += [
            "",
            "[[agents]]",
            f"path = {toml_quoted(f'{PROGRAMS}/{agent.name}')}",
            f"name = {toml_quoted(agent.name)}",
        ]
    return "\n".join([*lines, ""])
