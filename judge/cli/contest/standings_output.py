"""The standings of a contest in the terminal."""

from rich.console import Console
from rich.text import Text

from judge.base.text import printable, titled
from judge.cli.ladder import print_ladder
from judge.contest_view.view import ContestView
from judge.terminal.contest_tables import print_certainty_words, standings_table
from judge.terminal.output import print_table


def print_standings(view: ContestView) -> None:
    """Print table, state, certainty, and agents that are out."""
    if view.has_rounds:
        console = Console(highlight=False)
        table = standings_table(view, has_boxes=not console.options.ascii_only)
        table.title = Text(printable(titled(view.name, view.snapshot.title)))
        print_table(table, console)
    else:
        print_ladder(view)
    print(view.state_words)
    print_certainty_words(view.certainty, has_brackets=view.has_rounds)
    for words in view.copies_words:
        print(words)
    if places_by := view.snapshot.format.places_by:
        print(places_by)
    for agent, why in view.disqualified.items():
        print(f"disqualified: {printable(agent)}: {printable(why)}")
    for agent, why in view.withdrawn.items():
        print(f"withdrawn: {printable(agent)}: {printable(why)}")
    if (test := view.test) is not None:
        print(f"sequential test: LLR {test.llr:.2f} ({test.lower:.2f} to {test.upper:.2f}): {test.decision}")
