"""`python -m tests.changed`: the tests that belong to the changes of the working tree, a path on each line.

A changed package is tested by the tests that CONTRIBUTING.md names for it and for all packages that import it, and by
those of `OF_ALL`.
"""

import re
import subprocess
from collections.abc import Iterable

from tests.test_contributing import ROOT, package_rows
from tests.test_house import MAY_IMPORT, package_name

OF_ALL = (
    "tests/corpus",
    "tests/golden",
    "tests/test_compatibility.py",
    "tests/test_docs.py",
    "tests/test_house.py",
    "tests/translations",
)
"""They compare all packages with the corpus, interfaces, formats, reference pages, rules of the code and catalogues."""


def main() -> None:
    for path in tests_of(changed_files()):
        print(path)  # noqa: T201


def changed_files() -> list[str]:
    """The paths that differ from the last commit, new ones included."""
    command = ["git", "status", "--porcelain", "--untracked-files=all", "--no-renames", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line[3:] for line in listed.stdout.split("\0") if line]


def tests_of(files: Iterable[str]) -> list[str]:
    packages: set[str] = set()
    found: set[str] = set()
    for name in files:
        if re.fullmatch(r"judge/translations/\w+\.po", name):
            found.add("tests/translations")
        elif match := re.match(r"judge/([\w/]+)", name):
            packages.add(package_name(match[1].split("/")))
        elif re.fullmatch(r"tests/(.+/)?test_\w+\.py", name):
            found.add(name)
        elif match := re.match(r"tests/\w+(?=/)", name):
            found.add(match[0])
        elif name.endswith(".md"):
            found.add("tests/test_docs.py")
    if packages:
        found.update(OF_ALL)
    importers = packages
    while importers:
        packages = packages | importers
        importers = {name for name, imports in MAY_IMPORT.items() if imports & importers} - packages
    for name, _, tests in package_rows():
        if name in packages:
            found.update(tests.split(", "))
    return sorted(path for path in found if (ROOT / path).exists())


if __name__ == "__main__":
    main()
