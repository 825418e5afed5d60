"""From a tree of sources to a tree that can be played: built in a box by `judge.submissions.builder`, never here."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from judge.agents.recipe import BuildRecipe
from judge.sandbox.hardening import HOME
from judge.sandbox.run_in_box import End, Work
from judge.submissions.builder import UNFIT
from judge.submissions.complaints import advice, first_error
from judge.submissions.escaped import SENTENCE_CHARACTERS, log_of
from judge.submissions.limits import BuildLimits, IntakeLimits
from judge.submissions.sandbox_task import Bench, Task, carry_out
from judge.text import printable

IMAGE = "toolchain"
"""The image in which sources are built."""

PROFILE = "toolchain"
"""The seccomp profile of its boxes, unless the policy has another."""

AT = f"{HOME}/tree"
"""Where they are built: always there, for compilers write where they were into what they make."""

EPOCH_S = 1700000000
"""When everything is built, for those compilers that ask."""

ENVIRONMENT = {"SOURCE_DATE_EPOCH": str(EPOCH_S), "PYTHONHASHSEED": "0", "TZ": "UTC"}


@dataclass(frozen=True, slots=True)
class Built:
    """What came of a build: the log, and why there is no tree; empty where there is one."""

    log: str
    failure: str = ""


def build(tree: Path, recipe: BuildRecipe, target: Path, limits: IntakeLimits, bench: Bench) -> Built:
    """Make the new directory `target`: `tree` as the recipe's commands leave it. Raises HostError."""
    task = Task(
        name="build",
        program="builder.py",
        image=IMAGE,
        job={"commands": recipe.commands, "source": "/agent/source", "at": AT, "bounds": limits.tree.model_dump()},
        lay_out=lambda directory: _copy(tree, directory / "source"),
        limits=limits.build.box(),
        seconds=limits.build.seconds,
        talk_bytes=limits.build.log_bytes,
        kept_bytes=limits.build.kept_log_bytes,
        environment=ENVIRONMENT,
    )
    carried = carry_out(task, bench, target, limits.tree)
    log = log_of(carried.work.talk)
    if not carried.work.is_done:
        return Built(log, _why(carried.work, log, limits.build, tree))
    if carried.refusal:
        return Built(log, f"what the build left cannot be taken: {carried.refusal}")
    if recipe.manifest:
        (target / "agent.toml").write_text(recipe.manifest, encoding="utf-8")
    return Built(log)


def _copy(tree: Path, target: Path) -> None:
    shutil.copytree(tree, target)


def _why(done: Work, log: str, limits: BuildLimits, tree: Path) -> str:
    """One sentence on a build that failed."""
    match done.end:
        case End.TIME:
            return f"the build took more than {limits.seconds:g} s"
        case End.MEMORY:
            return f"the build took more memory than it may: {limits.box().cap_bytes} bytes, its files included"
        case End.OUTPUT:
            return "the build left more than an agent may have"
        case End.TALK:
            return f"the build printed more than {limits.log_bytes} bytes"
    last = printable(log.rpartition("\n")[2], SENTENCE_CHARACTERS) or f"{done.report.kind} {done.report.number}"
    if done.report.kind == "exited" and done.report.number == UNFIT:
        return last
    said = [f"the build failed: {last}", first_error(log), advice(log, tree)]
    return "; ".join(part for part in said if part)
