"""Import a command only when it is used."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from judge.base.errors import InputError
from judge.base.garbage import importing
from judge.base.registry import Registry
from judge.base.text import nearest
from judge.cli.entry import CommandEntry

Places = Mapping[str, str]
"""For each command `module:attribute` of an app, a function or an order. Its docstring or `help` is the command's
help.
"""


class PlainHelp:
    """Of a command or group: help as plain text. That of typer imports rich, which takes longer than a command."""

    epilog: str | None

    def get_params(self, ctx: Any) -> Any:
        """Its flags have the default False: to convert None, typer would import pydantic."""
        options = super().get_params(ctx)  # type: ignore[misc] # of typer
        for option in options:
            if getattr(option, "is_bool_flag", False) and option.default is None:
                option.default = False
        return options

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 what typer calls it with
        """Write the paragraphs of EXAMPLES: text, or commands, one on each line, which can be copied although they
        are wrapped. Commands in the first paragraph get a heading.
        """
        paragraphs = inspect.cleandoc(self.epilog or "").split("\n\n")
        if _are_commands(paragraphs[0]):
            paragraphs.insert(0, "Examples:")
        for before, paragraph in pairwise(["", *paragraphs]):
            if not (_are_commands(before) and _are_commands(paragraph)):
                formatter.write_paragraph()
            if not _are_commands(paragraph):
                with formatter.indentation():
                    formatter.write_text(paragraph)
                continue
            for command in paragraph.splitlines():
                lines = textwrap.wrap(command, formatter.width - 10, break_long_words=False, break_on_hyphens=False)
                formatter.write(" \\\n        ".join(lines).join(("    ", "\n")))


def _are_commands(paragraph: str) -> bool:
    return paragraph.startswith("judge ") and not paragraph.endswith(".")


class HelpCommand(PlainHelp, TyperCommand):
    """A command whose help ends with examples."""


class LazyGroup(PlainHelp, TyperGroup):
    """Commands that are imported when they run. Lists of commands need no import."""

    commands_of_modules: Mapping[str, str] = {}
    orders: str = ""
    """The module of classes of orders, which have commands too."""
    panels: Mapping[str, str] = {}
    rare: Collection[str] = ()
    added: Registry[CommandEntry] | None = None

    @property
    def places(self) -> Places:
        """The places of all commands, those of orders last."""
        return {**self.commands_of_modules, **(order_commands(self.orders) if self.orders else {})}

    def _place(self, name: str) -> str:
        return self.commands_of_modules.get(name) or self.places.get(name, "")

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 what typer calls it with
        """The names in the order of the table, then those of other packages."""
        places = self.places
        return [*places, *(name for name in (self.added.names() if self.added else ()) if name not in places)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands under the headings of their panels, with the first paragraph of their help."""
        shown = [
            (name, command) for name in self.list_commands(ctx) if not (command := self.get_command(ctx, name)).hidden
        ]
        width = max((len(name) for name, _ in shown), default=0)
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, command in shown:
            row = f"{name:<{width}}", command.help or ""
            panels.setdefault(command.rich_help_panel or "Commands", []).append(row)
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the command that was typed; suggest similar names for an unknown one."""
        if not self._place(args[0]) and (self.added is None or args[0] not in self.added):
            near = nearest(args[0], [*self.list_commands(ctx), *(self.added.plugins if self.added else ())], 3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"run {ctx.command_path} --help"
            ctx.fail(f"There is no command {args[0]!r}: {hint}")
        return args[0], self.load(args[0]), args[1:]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 what typer calls it with
        """The command's name and help, for a list; None for an unknown name."""
        if not (place := self._place(cmd_name)):
            if self.added is None or cmd_name not in self.added.names():
                return None
            try:
                about = self.added.entry(cmd_name).about
            except InputError as error:
                about = str(error)
            return TyperCommand(cmd_name, help=about, rich_help_panel="Other packages")
        about = first_paragraph(_help_of(place))
        panel = self.panels.get(cmd_name) if cmd_name in self.commands_of_modules else "Orders"
        return TyperCommand(cmd_name, help=about, rich_help_panel=panel, hidden=cmd_name in self.rare)

    def load(self, name: str) -> Any:
        """Import the command. Raises InputError for a missing or broken package."""
        place = self._place(name)
        if self.added and not place:
            place = self.added.entry(name).place
        module_name, _, attribute = place.partition(":")
        with importing():
            module = import_module(module_name)
        found = getattr(module, attribute)
        if isinstance(found, typer.Typer):
            found.rich_markup_mode = None
            group = typer.main.get_group(found)
            group.name = name
            return group
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        examples = getattr(module, "EXAMPLES", {})
        if isinstance(found, type):
            orders = import_module("judge.cli.orders")
            found, examples = orders.command_of(found), orders.example_of(found)
        epilog = examples.get(name) if isinstance(examples, dict) else examples
        alone.command(name, cls=HelpCommand, epilog=epilog)(found)
        return typer.main.get_command(alone)


def first_paragraph(text: str | None) -> str:
    """The first paragraph of a command's help, as one line."""
    return " ".join((text or "").split("\n\n")[0].split())


def _help_of(place: str) -> str | None:
    module_name, _, attribute = place.partition(":")
    if attribute[:1].isupper():  # an order; its import takes a second
        classes = {each.name: each for each in _tree(module_name).body if isinstance(each, ast.ClassDef)}
        return ast.get_docstring(classes[attribute])
    found = getattr(import_module(module_name), attribute)
    return found.info.help if isinstance(found, typer.Typer) else found.__doc__


@cache
def order_commands(module: str) -> Places:
    """The commands of the orders in a module, from the source."""
    found: dict[str, str] = {}
    for node in _tree(module).body:
        if isinstance(node, ast.ClassDef):
            given = {ast.unparse(each.targets[0]): each.value for each in node.body if isinstance(each, ast.Assign)}
            name = given.get("command") or given.get("action")
            if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value:
                found[name.value] = f"{module}:{node.name}"
    return found


@cache
def _tree(module: str) -> ast.Module:
    spec = find_spec(module)
    return ast.parse(Path(spec.origin).read_bytes() if spec and spec.origin else b"")


def lazy_group(
    places: Places,
    about: Callable[[], str] | None = None,
    panels: Mapping[str, str] | None = None,
    added: Registry[CommandEntry] | None = None,
    rare: Collection[str] = (),
    orders: str = "",
    **options: Any,
) -> typer.Typer:
    """An app of such commands. If `about` is given, `--version` prints its text.

    `panels` has the heading under which help lists each command. `added` has commands of other packages. Of `rare`
    commands only `judge help all` speaks. `orders` is a module whose orders have commands.
    """
    given = {"commands_of_modules": places, "orders": orders, "panels": panels or {}, "added": added, "rare": rare}
    cls = type("Commands", (LazyGroup,), given)
    epilog = "judge help all lists every command." if rare else None
    app = typer.Typer(cls=cls, no_args_is_help=True, epilog=epilog, rich_markup_mode=None, **options)

    def show(asked: bool) -> None:
        if asked and about:
            print(about())
            raise typer.Exit

    version = typer.Option(
        "--version", help="Print the versions that a bug report needs.", is_eager=True, callback=show
    )

    def _version(version: Annotated[bool, version] = False) -> None:
        pass

    # An app without its own commands is a group only if it has a callback.
    app.callback()(_version if about else lambda: None)
    return app
