"""`judge contest init --from`: the next contest of a series."""

import os
import re
from collections.abc import Sequence
from contextlib import closing, nullcontext
from pathlib import Path

from judge.base.durable_files import write_durably
from judge.base.errors import HostError, InputError
from judge.base.text import printable
from judge.cli.contest.init_options import InitOptions
from judge.cli.options import operator
from judge.contest.carry_over import carry_over
from judge.contest.contest import foreign
from judge.contest.entries import intake_directory
from judge.contest.file_names import PLAN_FILE
from judge.contest.plan import NAME, Planned, load_plan
from judge.contest.plan_edits import next_text, relocated, with_changes
from judge.publish.before_export import former_problem


def init_from(name: str, path_of_last: Path, store: str, options: InitOptions, changes: Sequence[str]) -> None:
    """Create the folder `name` with a copy of another contest: file, submitted agents with their checks, tokens, key,
    ratings. `store` is its database, if its file names one outside its folder. Raises InputError and HostError.
    """
    last = foreign(load_plan(path_of_last), (), store)
    folder = Path(name)
    path = folder / PLAN_FILE
    if not re.fullmatch(NAME, folder.resolve().name):
        raise InputError(f"{name}: not a contest's name: use letters, digits, dashes, underscores and dots")
    if folder.exists():
        raise InputError(f"{folder} exists: use another name")
    with closing(intake_directory(last).register()) if not last.has_no_store else nullcontext() as register:
        has_begun = register is not None and register.has_begun()
    wanted = with_changes(last.plan.change, [*changes, *options.changes])
    values: dict[tuple[str, ...], object] = dict(options.moments.items())
    values["name",] = folder.resolve().name
    if wanted != last.plan.change:
        values["change",] = list(wanted)
    for key, text in (("title", options.title), ("zone", options.zone)):
        if text:
            values[key,] = text
    if not last.keeps_own_database:
        values["store",] = last.plan.store
    last_folder = os.path.relpath(last.folder.resolve(), folder.resolve())
    former = [relocated(each, last.folder, folder) for each in last.plan.ratings.with_]
    joined = [*former, *([last_folder] if has_begun else [])]

    def write() -> Planned:
        write_durably(
            path, next_text(last, folder, values, joined, last_folder if last_folder in joined else "").encode()
        )
        return load_plan(path)

    try:
        folder.mkdir(parents=True)
        planned = write()
        reasons = {each: why for each in joined if (why := former_problem(planned, each))}
        if reasons:
            joined = [each for each in joined if each not in reasons]
            planned = write()
    except OSError as error:
        raise HostError(f"{path}: {error.strerror}") from None
    except InputError:
        path.unlink(missing_ok=True)
        folder.rmdir()
        raise
    done = carry_over(last, planned, operator())
    print(f"{path}: from {last.path}, without its schedule")
    print(f"  agents   {_names(done.checked)}" + ("; their checks are kept" if done.checked else ""))
    if done.unchecked:
        print(f"  again    {_names(done.unchecked)}: the policy differs; judge serve checks them")
    kept = "one database: create them again" if done.shares_store else f"{done.tokens}, valid in both contests"
    print(f"  tokens   {kept}")
    print(f"  key      {'the same organiser.key' if done.has_key else 'none: judge contest key creates one'}")
    print(f"  ratings  {_ratings_words(last.name, joined, has_begun=has_begun)}")
    for why in reasons.values():
        print(f"           left out: {printable(why, 600)}")
    print("then")
    print(f"  judge contest plan {path}       checks it: games, duration, missing items")
    print(f"  judge contest announce {path}   prints the text to publish")


def _ratings_words(last: str, joined: Sequence[str], *, has_begun: bool) -> str:
    if not joined:
        return "not joined" if has_begun else f"not joined: {last} has not begun"
    return f"joined with {', '.join(Path(each).name for each in joined)}"


def _names(names: Sequence[str]) -> str:
    return printable(", ".join(names), 600) or "none was submitted"
