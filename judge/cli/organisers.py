"""`judge organisers`: tokens for the organisers' pages of `judge serve`."""

from contextlib import closing
from typing import Annotated

import typer

from judge.base.errors import InputError
from judge.base.text import printable, suggest
from judge.cli.links import organiser_link
from judge.cli.options import HERE, ContestArgument, checked_address, operator
from judge.cli.submit import open_intake
from judge.store.tokens import ORGANISER_ROLES, TokenRole
from judge.terminal.output import note

app = typer.Typer(help="Manage organisers' tokens for the pages of judge serve.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The organiser's name, as the journal shows it.")]


@app.command(epilog='Example: judge organisers token "Ada L." --role act cup --url https://example.org/cup')
def token(
    name: Name,
    role: Annotated[str, typer.Option(help="watch: see everything; act: also give orders.")] = TokenRole.WATCH.value,
    contest: ContestArgument = HERE,
    url: Annotated[str, typer.Option(help="The address of judge serve: also print a sign-in link.")] = "",
) -> None:
    """Create a token that gives NAME access to the organisers' pages; with --role act also to give orders there."""
    if role not in ORGANISER_ROLES:
        raise InputError(f"--role {printable(role, 20)}: {suggest(role, ORGANISER_ROLES)}")
    address = checked_address(url) if url else ""
    with closing(open_intake(contest).tokens()) as tokens:
        made = tokens.make(name, operator(), TokenRole(role))
    print(made)
    if address:
        print(organiser_link(address, made))
    note("the token is shown only once: send it by a private channel; judge organisers revoke ends it")


@app.command(epilog='Example: judge organisers revoke "Ada L." cup')
def revoke(name: Name, contest: ContestArgument = HERE) -> None:
    """Revoke every organiser's token of NAME. The orders stay in the journal."""
    with closing(open_intake(contest).tokens()) as tokens:
        print(f"{tokens.revoke_organiser(name, operator())} revoked")


@app.command("list", epilog="Example: judge organisers list cup")
def list_organisers(contest: ContestArgument = HERE) -> None:
    """List the valid tokens with their holders and roles."""
    with closing(open_intake(contest).tokens()) as tokens:
        for holder in tokens.organisers():
            made = f"made {holder.made_at[:16].replace('T', ' ')} by {printable(holder.made_by)}"
            print(f"{holder.role.value:<6} {printable(holder.name)}  {made}")
