"""Check a commit message: python scripts/commit_message.py FILE. The commit-msg hook runs it."""

import re
import sys
from pathlib import Path

MAX_SUBJECT = 72

_GENERATED = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")
_SUBJECT = re.compile(r"[a-z][a-z0-9_./, -]*: \S.*")


def problems(message: str) -> list[str]:
    """Everything that is wrong with a message; comment lines do not count."""
    lines = [line.rstrip() for line in message.splitlines() if not line.startswith("#")]
    while lines and not lines[0]:
        del lines[0]
    if not lines:
        return ["the message is empty"]
    subject, found = lines[0], []
    if subject.startswith(_GENERATED):
        return []
    if len(subject) > MAX_SUBJECT:
        found.append(f"the subject has {len(subject)} characters; at most {MAX_SUBJECT}")
    if not _SUBJECT.fullmatch(subject):
        found.append('the subject must start with the package: "referee: accept a draw by agreement"')
    if subject.endswith("."):
        found.append("the subject ends with a period")
    if len(lines) > 1 and lines[1]:
        found.append("the second line must be empty")
    return found


def main() -> None:
    """Print each problem; exit with 1 if there is one."""
    path = Path(sys.argv[1])
    found = problems(path.read_text(encoding="utf-8"))
    for problem in found:
        print(f"{path}: {problem}", file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
