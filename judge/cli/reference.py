"""`judge policies`, `agents`, `schema`, `verdicts`, which generates docs/verdicts.md, and `help`."""

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from judge.base.durable_files import write_durably
from judge.base.errors import InputError, os_errors_as
from judge.base.resources import BUILD_DIRECTORY, IMAGES, POLICIES
from judge.base.text import printable, suggest
from judge.cli.lazy import LazyGroup, first_paragraph
from judge.cli.options import POLICY_HELP, ForceOption, complete_policy
from judge.terminal.output import make_table, print_json


def policies(
    policy: Annotated[
        str, typer.Argument(help=f"{POLICY_HELP} Default: list them.", autocompletion=complete_policy)
    ] = "",
    *,
    diff: Annotated[
        str,
        typer.Option(metavar="POLICY", help="Print the differences to another policy.", autocompletion=complete_policy),
    ] = "",
    copy: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Copy the policy to a new file, whose name ends in .toml.")
    ] = None,
    force: ForceOption = False,
) -> None:
    """List the policies, files with the rules and limits of games; or print all values of one, with the defaults.

    A copy keeps comments and variants, to be changed there. Of a difference, `-` is the value in the first policy.
    """
    from judge.record.policy import load_policy

    if not policy:
        if diff or copy is not None:
            raise InputError("--diff and --copy: name a policy, such as judge policies gomocup-freestyle --copy FILE")
        _list_policies()
    elif copy is not None:
        _copy_policy(policy, copy, force)
    elif diff:
        _print_differences(policy, diff)
    else:
        for key, value in _flat(load_policy(policy).model_dump(mode="json")):
            print(f"{key} = {json.dumps(value)}")


def _list_policies() -> None:
    from rich.console import Console

    from judge.record.policy import load_policy, policy_names, variants_of

    rows = [(name, load_policy(name).about, ", ".join(variants_of(name))) for name in policy_names()]
    Console(soft_wrap=True).print(make_table(("policy", "description", "variants"), rows))
    print(f"The files are in {POLICIES}; copy one to make your own.")
    print("  judge policies NAME --copy FILE")


def _print_differences(first: str, second: str) -> None:
    from judge.record.policy import load_policy

    ours, theirs = (dict(_flat(load_policy(name).model_dump(mode="json"))) for name in (first, second))
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            print(key)
            for sign, values in (("-", ours), ("+", theirs)):
                print(f"  {sign} {json.dumps(values[key]) if key in values else '(not set)'}")


def _copy_policy(policy: str, file: Path, force: bool) -> None:
    from judge.record.policy import policy_names

    name, _, variant = policy.partition(":")
    if name not in policy_names():
        raise InputError(f"unknown policy {printable(name, 80)}; {suggest(name, policy_names())}")
    if file.suffix != ".toml":
        raise InputError(f"{file}: the name of a policy file ends in .toml")
    if file.exists() and not force:
        raise InputError(f"{file} exists: choose another name, or use --force")
    with os_errors_as(InputError, file):
        write_durably(file, (POLICIES / f"{name}.toml").read_bytes())
    print(f"wrote {file}; use it as --policy {file}{f':{variant}' if variant else ''}")


def _flat(value: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        if isinstance(inner, dict):
            yield from _flat(inner, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", inner


def agents() -> None:
    """List the house agents and the starters. Every command accepts their names in place of an agent's path."""
    from rich.console import Console

    from judge.agents.manifest import MANIFEST, read_manifest
    from judge.base.resources import house_agent_names

    table = make_table(("agent", "protocol", "language", "description"))
    for name in house_agent_names():
        manifest = read_manifest(IMAGES / name / MANIFEST)
        built = "" if (BUILD_DIRECTORY / name).is_dir() else " (not built; run judge images build)"
        about = printable(manifest.description.strip())
        table.add_row(name, manifest.protocol or "the policy's", manifest.language, about + built)
    Console(soft_wrap=True).print(table)
    print(f"Starters for authors are in {IMAGES}; copy one to make your own agent.")
    print(f"  cp -r {IMAGES}/starter-gomocup-python mine")


SCHEMAS: Mapping[str, str] = {
    "policy": "judge.record.policy:Policy",
    "spec": "judge.record.spec:GameSpec",
    "record": "judge.record.spec:GameRecord",
    "record-file": "judge.record.spec:RecordFile",
    "agent": "judge.agents.manifest:AgentManifest",
}
"""The places of models."""

EXAMPLES = {
    "help": """
judge help all
judge help contest run
""",
    "schema": "Example: judge schema record > record.schema.json",
    "policies": """
judge policies
judge policies gomocup-standard:fast
judge policies gomocup-freestyle --diff gomocup-fastgame
judge policies gomocup-freestyle --copy our-cup.toml
""",
}


def schema(
    name: Annotated[
        str, typer.Argument(help="policy, spec, record, record-file or agent.", autocompletion=lambda: list(SCHEMAS))
    ],
) -> None:
    """Print the JSON schema of a policy, spec, record or agent manifest."""
    if name not in SCHEMAS:
        raise InputError(f"there is no schema {name!r}; use one of {', '.join(SCHEMAS)}")
    module, _, model = SCHEMAS[name].partition(":")
    print_json(getattr(import_module(module), model).model_json_schema())


def verdicts() -> None:
    """Explain every verdict: when it is given, by whom, and what an author can do."""
    print("\n".join(reference()))


def reference() -> Iterator[str]:
    """Yield the lines and paragraphs of docs/verdicts.md."""
    from judge.referee.blame import FAULTS, RULED, TABLE

    yield "# Verdicts\n"
    yield (
        "The verdict states in one word how a game ended. *Box* means the container of an agent. An organiser can also "
        "void a game: `judge contest void`. `judge contest journal` prints the reason of each void game. `judge show "
        "RECORD --evidence` prints the evidence for the end of a game.\n"
    )
    yield "## Decided by the game or the protocol\n"
    for verdict, (meaning, fix) in RULED.items():
        yield f"- **{verdict.value}**. {meaning} {fix}".rstrip()
    yield "\n## Failures and their causes\n"
    yield (
        "The evidence comes from the kernel, the judge's own process in the container and the Engine, never from the "
        "agent. The first row that matches gives the verdict. A failure of the Engine, the host or the judge takes "
        "precedence over memory, memory over output, output over time, and time over a crash. A late agent does not "
        "lose if a row above its time verdict shows that the host delayed it: the game is void.\n"
    )
    yield "| row | verdict | when | example of the reason in the record |"
    yield "|---|---|---|---|"
    for row in TABLE:
        example = row.because(row.example).replace("|", "\\|")
        yield f"| {row.name} | **{row.verdict.value}** | {row.when} | {example} |"
    yield ""
    for verdict, fix in FAULTS.items():
        yield f"- **{verdict.value}**. {fix}"
    yield "\nFor maintainers: `judge verdicts > docs/verdicts.md` writes this page from the table that decides."


def help_(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="COMMAND...", help="A command; all: every command on a line.")
    ] = None,
) -> None:
    """Explain a command, or list every command of judge with `judge help all`."""
    root = ctx.find_root()
    name = root.info_name or "judge"
    if words == ["all"]:
        for path, about in _commands(root.command, name, root):
            print(f"{path:<32} {printable(about, 400)}")
        return
    command, context = root.command, root
    for word in words or ():
        known = command.list_commands(context) if isinstance(command, TyperGroup) else ()
        if word not in known:
            raise InputError(f"{context.command_path} has no command {printable(word, 40)}: {suggest(word, known)}")
        command = _inner(command, word, context)
        context = type(context)(command, info_name=word, parent=context)
    print(command.get_help(context))


def _inner(group: Any, name: str, context: Any) -> Any:
    return group.load(name) if isinstance(group, LazyGroup) else group.get_command(context, name)


def _commands(command: Any, path: str, context: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(command, TyperGroup):
        yield path, first_paragraph(command.help)
        return
    for name in command.list_commands(context):
        yield from _commands(_inner(command, name, context), f"{path} {name}", context)
