"""Copies an agent's files for one box, so that no other box shares the kernel's state of these files.

The kernel keeps pages, locks, watches and waiters per file, and missing names per directory. An agent can change this
state, even of read-only files, and send data to other boxes or games.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from judge.base.errors import HostError
from judge.sandbox.machine.owner import remove_directory


@dataclass(frozen=True, slots=True)
class ProgramCopy:
    """Copies `source` to `path`."""

    source: Path
    path: Path

    def make(self) -> None:
        """Replaces an earlier copy. Raises HostError."""
        remove_directory(self.path)
        try:
            shutil.copytree(self.source, self.path, symlinks=True)  # resolved in the box
        except OSError as error:
            # `shutil.Error` has a list of files with reasons.
            reason = error.args[0][0][-1] if isinstance(error, shutil.Error) else error.strerror
            raise HostError(
                f"The files in {self.source} could not be copied for a box: {reason}: make room in "
                f"{tempfile.gettempdir()}, or set TMPDIR"
            ) from error
