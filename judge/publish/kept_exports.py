"""The exports in a contest's folder."""

from pathlib import Path

from judge.contest.folder_names import EXPORTS
from judge.publish.manifest import MANIFEST


def kept_exports(folder: Path) -> list[tuple[int, Path]]:
    """The public parts of the complete exports, newest first, each after its time in nanoseconds."""
    found = [
        (path.stat().st_mtime_ns, path.parent)
        for path in (folder / EXPORTS).glob(f"*/public/{MANIFEST}")
        if not (path.parent.is_symlink() or path.parent.parent.is_symlink())
    ]
    return sorted(found, reverse=True)
