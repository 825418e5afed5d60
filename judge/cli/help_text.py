"""Help as plain text. The formatter of typer imports rich, markdown and pygments, which takes longer than a command."""

import inspect
import textwrap
from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand


class PlainHelp:
    """Of a command or group: flags without pydantic, and help that ends with examples."""

    epilog: str | None

    def get_params(self, ctx: Any) -> Any:
        """As `flags_off` returns them."""
        return flags_off(super().get_params(ctx))  # type: ignore[misc] # of typer

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 what typer calls it with
        write_epilog(self.epilog, formatter)


class HelpCommand(PlainHelp, TyperCommand):
    """A command whose help ends with examples."""


def flags_off(options: Sequence[Any]) -> Sequence[Any]:
    """The options of a command. Its flags have the default False: to convert None, typer would import pydantic."""
    for option in options:
        if getattr(option, "is_bool_flag", False) and option.default is None:
            option.default = False
    return options


def write_epilog(epilog: str | None, formatter: Any) -> None:
    """Write the paragraphs of a text. Commands among them are one list, and can be copied although they are wrapped."""
    was_command = False
    for paragraph in inspect.cleandoc(epilog or "").split("\n\n"):
        is_command = paragraph.startswith("judge ") and not paragraph.endswith(".")
        if not (is_command and was_command):
            formatter.write_paragraph()
        was_command = is_command
        if is_command:
            lines = textwrap.wrap(paragraph, formatter.width - 10, break_long_words=False, break_on_hyphens=False)
            formatter.write(" \\\n        ".join(lines).join(("    ", "\n")))
        else:
            with formatter.indentation():
                formatter.write_text(paragraph)
