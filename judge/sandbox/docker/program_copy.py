"""A copy of an agent's files for one box, so that no other box shares with it what the kernel keeps for a file.

The kernel keeps for each file which of its pages are in memory, its locks, its watches and which processes wait on its
pages, and for each directory which names are missing. An agent can change these although the files are read-only. In a
shared directory it could pass numbers to its next game, and to other boxes at the same time.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from judge.base.errors import HostError
from judge.sandbox.machine.owner import remove_directory


@dataclass(frozen=True, slots=True)
class ProgramCopy:
    """The copy at `path` of the agent's files in `source`."""

    source: Path
    path: Path

    def make(self) -> None:
        """Copy all files, in place of a former copy. Raises HostError if there is no room for them."""
        remove_directory(self.path)
        try:
            shutil.copytree(self.source, self.path, symlinks=True)  # a link is resolved in the box, not here
        except OSError as error:
            # `shutil.Error` has a list of files with their reasons instead of one reason.
            reason = error.args[0][0][-1] if isinstance(error, shutil.Error) else error.strerror
            raise HostError(
                f"The files in {self.source} could not be copied for a box: {reason}: make room in "
                f"{tempfile.gettempdir()}, or set TMPDIR"
            ) from error
