"""What `judge contest verify` prints of an export and of a cup."""

from collections.abc import Sequence

from judge.base.text import printable
from judge.publish.manifest import ManifestCheck
from judge.terminal.output import note

SHOWN_PROBLEMS = 50

SAMPLE_EXIT_CODE = 3
"""A sample had no problem. 0 would look like a complete verification."""


def print_problems(problems: Sequence[str]) -> None:
    """Print the first `SHOWN_PROBLEMS` problems, and the number of the others."""
    for problem in problems[:SHOWN_PROBLEMS]:
        print(f"  {printable(problem, 500)}")
    if len(problems) > SHOWN_PROBLEMS:
        print(f"  and {len(problems) - SHOWN_PROBLEMS} more")


def warn_of_own_key(manifest: ManifestCheck) -> None:
    """Warn if the key is the directory's own."""
    if manifest.is_own_key:
        note(
            "judge: WARNING: this key is from the directory itself. It proves that the files belong together, "
            "NOT who published them: get the organiser's key from another source and give it with --key FILE"
        )
