"""The type of entries of `judge.commands`: commands that other packages add to `judge`."""

from dataclasses import dataclass

from judge.base.registry import Registry


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command `judge NAME`. `about` is the first paragraph of its help.

    `place` is `module:attribute` of a function with typer's annotations, or of a `typer.Typer`. It is imported when the
    command runs. An EXAMPLES text of the module is printed after the help.
    """

    name: str
    place: str
    about: str


COMMANDS = Registry("judge.commands", "command", CommandEntry)
