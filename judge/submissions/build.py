"""From a tree of sources to a tree that can be played; `judge.submissions.build_in_box` builds it in a box."""

from dataclasses import dataclass
from pathlib import Path

from judge.agents.agents import (
    INFO,
    MANIFEST,
    brains_of,
    info_words,
    manifest_text,
    read_sent_manifest,
    refuse_misnamed_manifest,
)
from judge.agents.recipe import AT, BuildRecipe, Sources, recipe_for
from judge.base.text import SENTENCE_CHARACTERS, printable
from judge.sandbox.box import ProcessReport
from judge.sandbox.docker.run_in_box import CommandEnd, CommandResult
from judge.sandbox.runtimes import image_that_builds, recipes
from judge.submissions.build_in_box import AGAIN, UNFIT
from judge.submissions.complaints import advice, first_error
from judge.submissions.limits import BuildLimits, IntakeLimits
from judge.submissions.sandbox_task import SandboxTask, TaskHost, run_task

EPOCH_S = 1700000000
"""When everything is built, for those compilers that ask."""

ENVIRONMENT = {"SOURCE_DATE_EPOCH": str(EPOCH_S), "PYTHONHASHSEED": "0", "TZ": "UTC"}


@dataclass(frozen=True, slots=True)
class Built:
    """The log of a build, and why there is no tree; empty if there is one."""

    log: str
    failure: str = ""


def recipe_of(tree: Path, upload_name: str) -> BuildRecipe | None:
    """How a tree that was sent is built; None if it can be played as it is. InputError.

    `upload_name` is the agent's name if its files have none.
    """
    refuse_misnamed_manifest(tree)
    if (tree / MANIFEST).exists():
        sent = read_sent_manifest(tree / MANIFEST)
        name = sent.name or upload_name
        return recipe_for(Sources(tree, name, sent.command, sent.build, frozenset(sent.model_fields_set)))
    if (tree / INFO).is_file():
        first, *words = info_words(tree / INFO)
        return recipe_for(Sources(tree, upload_name, (f"./{first.removeprefix('./')}", *words)))
    if brains_of(tree):
        return None
    return recipe_for(Sources(tree, upload_name))


def build_tree(tree: Path, recipe: BuildRecipe, target: Path, limits: IntakeLimits, host: TaskHost) -> Built:
    """Make the new directory `target`: `tree` as the recipe's commands leave it. Raises HostError."""
    image = image_that_builds(recipe.kind)
    task = SandboxTask(
        name="build",
        program="build_in_box.py",
        image=image,
        job={
            "attempts": [recipe.commands, *recipe.fallbacks],
            "at": AT,
            "bounds": limits.tree.model_dump(),
        },
        input=tree,
        limits=limits.build.box(),
        seconds=limits.build.seconds,
        stderr_bytes=limits.build.log_bytes,
        log_bytes=limits.build.kept_log_bytes,
        environment=ENVIRONMENT,
        runs_scratch=recipes()[image].runs_built,
    )
    result, refusal = run_task(task, host, target, limits.tree)
    log = str(result.stderr)
    if not result.is_success:
        return Built(log, _failure(result, log, limits.build, tree))
    if refusal:
        return Built(log, f"what the build left cannot be taken: {refusal}")
    if recipe.manifest:
        sent = tree / MANIFEST
        rest = manifest_text(sent) if sent.exists() else ""
        (target / MANIFEST).write_text(recipe.manifest + rest, encoding="utf-8")
    return Built(log)


def _failure(result: CommandResult, log: str, limits: BuildLimits, tree: Path) -> str:
    """One sentence on a build that failed."""
    match result.end:
        case CommandEnd.TIME:
            return f"the build took more than {limits.seconds:g} s"
        case CommandEnd.MEMORY:
            return f"the build took more memory than it may: {limits.box().cap_bytes} bytes, its files included"
        case CommandEnd.OUTPUT:
            return "the build left more than an agent may have"
        case CommandEnd.STDERR:
            return f"the build printed more than {limits.log_bytes} bytes"
    report = result.report
    log = log.rpartition(AGAIN)[2]
    last = printable(log.rpartition("\n")[2], SENTENCE_CHARACTERS) or f"{report.kind} {report.number}"
    if report == ProcessReport("exited", UNFIT):
        return last
    return "; ".join(part for part in (f"the build failed: {last}", first_error(log), advice(log, tree)) if part)
