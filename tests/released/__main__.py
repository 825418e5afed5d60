"""`python -m tests.released` writes the files of a release into `tests/released/VERSION`."""

import sys
from pathlib import Path

import judge
from tests.released.files import write_files


def main() -> None:
    folder = Path(__file__).parent / judge.__version__
    if folder.exists():
        sys.exit(f"{folder} exists, and released files do not change: remove an unreleased folder by hand")
    write_files(folder)
    sys.stdout.write(f"wrote {sum(path.is_file() for path in folder.rglob('*'))} files into {folder}\n")


main()
