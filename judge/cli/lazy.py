"""A command is imported when it is asked for: most need a tenth of what the judge is made of, and start at once."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from judge.text import nearest


class LazyGroup(TyperGroup):
    """Commands by name, each `module:attribute`: an app, or a function whose examples are its module's EXAMPLES."""

    places: Mapping[str, str] = {}

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 what typer calls it with
        """In the order of the table."""
        return list(self.places)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that was typed; of a word that is none, those like it."""
        if args and args[0] not in self.places:
            near = nearest(args[0], self.places, 3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"{ctx.command_path} --help"
            ctx.fail(f"There is no command {args[0]!r}: {hint}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 what typer calls it with
        """The command, imported; None for a name that there is not."""
        if cmd_name not in self.places:
            return None
        module_name, _, attribute = self.places[cmd_name].partition(":")
        module = import_module(module_name)
        found = getattr(module, attribute)
        if isinstance(found, typer.Typer):
            group = typer.main.get_group(found)
            group.name = cmd_name
            return group
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        examples = getattr(module, "EXAMPLES", {})
        alone.command(cmd_name, epilog=examples.get(cmd_name) if isinstance(examples, dict) else examples)(found)
        return typer.main.get_command(alone)


def group(places: Mapping[str, str], about: Callable[[], str] | None = None, **options: Any) -> typer.Typer:
    """An app of such commands; `about` is what its `--version` prints, where it has one."""
    cls = type("Commands", (LazyGroup,), {"places": places})
    app = typer.Typer(cls=cls, no_args_is_help=True, **options)

    def show(asked: bool) -> None:
        if asked and about:
            print(about())
            raise typer.Exit

    version = typer.Option("--version", help="What a bug report needs to know.", is_eager=True, callback=show)

    # An app without commands of its own must have one of these to be a group.
    def _nothing() -> None:
        pass

    def _version(version: Annotated[bool, version] = False) -> None:
        pass

    app.callback()(_version if about else _nothing)
    return app
