"""`judge policies`: which contest formats there are, what each says, and in what two of them differ."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judge.cli.complete import policy_words
from judge.referee.policy import load_policy, policy_names, variants_of
from judge.resources import POLICIES

app = typer.Typer(
    help="Contest formats: every number that the judge enforces stands in one of these files.", no_args_is_help=True
)

Named = Annotated[
    str, typer.Argument(help="A name, a name with :variant, or a .toml file.", autocompletion=policy_words)
]


@app.command("list")
def list_policies() -> None:
    """List the policies that come with the judge, and their variants."""
    table = Table("policy", "what it is", "variants", box=None)
    for name in policy_names():
        table.add_row(name, load_policy(name).about, ", ".join(variants_of(name)))
    Console(soft_wrap=True).print(table)
    print(f"They are files in {POLICIES}; copy one to make your own.")


@app.command(epilog="Example: judge policies show gomocup-standard:fast")
def show(policy: Named) -> None:
    """Show a policy with all its numbers, those it does not name included."""
    for key, value in _flat(load_policy(policy).model_dump(mode="json")):
        print(f"{key} = {json.dumps(value)}")


@app.command(epilog="Example: judge policies diff gomocup-freestyle gomocup-fastgame")
def diff(first: Named, second: Named) -> None:
    """Show the keys in which two policies differ: `-` the first's value, `+` the second's."""
    ours, theirs = (dict(_flat(load_policy(name).model_dump(mode="json"))) for name in (first, second))
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            print(key)
            print(f"  - {_said(ours, key)}")
            print(f"  + {_said(theirs, key)}")


def _said(values: dict[str, Any], key: str) -> str:
    return json.dumps(values[key]) if key in values else "(not set)"


def _flat(value: dict[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Keys such as `clock.turn_ms` with their values, in the order of the file."""
    pairs: list[tuple[str, Any]] = []
    for key, inner in value.items():
        if isinstance(inner, dict):
            pairs += _flat(inner, f"{before}{key}.")
        else:
            pairs.append((f"{before}{key}", inner))
    return pairs
