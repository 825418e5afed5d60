"""`judge agents`: the agents that ship with the judge."""

import typer
from rich.console import Console
from rich.table import Table

from judge.agents.agents import MANIFEST, read_manifest
from judge.host.house_agents import house_agent_names
from judge.resources import BUILD_DIRECTORY, IMAGES
from judge.text import printable

PROTOCOL_OF_POLICY = "the policy's"
"""What an agent speaks whose manifest names no protocol."""

app = typer.Typer(help="House agents: opponents to play against and examples to read.", no_args_is_help=True)


@app.command("list")
def list_agents() -> None:
    """List the house agents; each may be named wherever an agent is asked for."""
    table = Table("agent", "speaks", "written in", "what it is", box=None)
    for name in house_agent_names():
        manifest = read_manifest(IMAGES / name / MANIFEST)
        built = "" if (BUILD_DIRECTORY / name).is_dir() else " (not built: judge images build)"
        table.add_row(
            name,
            manifest.protocol or PROTOCOL_OF_POLICY,
            manifest.language,
            printable(manifest.description.strip()) + built,
        )
    Console(soft_wrap=True).print(table)
