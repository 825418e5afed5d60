"""Copies of an export in which git or a copy tool changed line ends."""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.parsing import parse_foreign
from judge.publish.manifest import (
    MANIFEST,
    MAX_MANIFEST_BYTES,
    SIGNATURE,
    ExportManifest,
    ListedFile,
    ManifestCheck,
    file_names,
)

CHANGED_LINE_ENDS = (
    "line ends were changed by git or a copy tool (files: {}); the contents of these files are signed. "
    "To restore them: git config core.autocrlf false, and check the files out again"
)

SIGNATURE_BYTES = 64


@dataclass(frozen=True, slots=True)
class Original:
    """An export with the line ends that were signed: the directory itself, or a temporary copy.

    The copy has `changed` files, and lacks `extra` ones, which are not part of the export.
    """

    directory: Path
    changed: int = 0
    extra: Sequence[str] = ()

    def checked(self, manifest: ManifestCheck) -> ManifestCheck:
        """The check of the manifest, with the extra files that the copy lacks."""
        return replace(manifest, extra=[*manifest.extra, *self.extra])

    def path_of(self, path: Path | None, given: Path) -> Path | None:
        """A file of the `given` directory in this one; other paths unchanged."""
        if path is None or not path.resolve().is_relative_to(given.resolve()):
            return path
        return self.directory / path.resolve().relative_to(given.resolve())


@contextmanager
def original_line_ends(directory: Path) -> Iterator[Original]:
    """The export of a contest or a cup with its original line ends, for as long as the context lasts.

    Only files that have the signed digest afterwards are changed. Raises InputError if files cannot be read.
    """
    problems: list[str] = []
    extra: list[str] = []
    names = list(file_names(directory, problems, extra))
    changed = {} if problems else dict(_changed(directory, set(names)))
    if not changed:
        yield Original(directory)
        return
    with TemporaryDirectory(prefix="judge-verify-") as temporary:
        place = Path(temporary) / "export"
        for name in names:
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if name in changed:
                path.write_bytes(changed[name])
            else:
                shutil.copyfile(directory / name, path)
        yield Original(place, len(changed), extra)


def _changed(directory: Path, names: set[str]) -> Iterator[tuple[str, bytes]]:
    """Files with other line ends than the signed ones, and their original bytes."""
    folders = [name.removesuffix(MANIFEST) for name in names if name == MANIFEST or name.count("/") == 1]
    for folder in sorted(folder for folder in folders if not folder or folder.endswith("/")):
        data = read_bounded(directory / f"{folder}{MANIFEST}", MAX_MANIFEST_BYTES)
        original = data.replace(b"\r\n", b"\n")
        if original != data:
            yield f"{folder}{MANIFEST}", original
        if f"{folder}{SIGNATURE}" in names:
            signature = read_bounded(directory / f"{folder}{SIGNATURE}", MAX_MANIFEST_BYTES)
            if len(signature) > SIGNATURE_BYTES == len(signature.replace(b"\r\n", b"\n")):
                yield f"{folder}{SIGNATURE}", signature.replace(b"\r\n", b"\n")
        try:
            manifest = parse_foreign(ExportManifest, original, MANIFEST)
        except InputError:
            continue  # reported by the check of the manifest
        for file in manifest.files:
            name = f"{folder}{file.path}"
            # Changed line ends change the size.
            if name in names and not name.endswith(f"/{MANIFEST}") and (found := _original(directory / name, file)):
                yield name, found


def _original(path: Path, file: ListedFile) -> bytes | None:
    size = path.stat().st_size
    if size == file.size or size > 2 * file.size:
        return None
    data = read_bounded(path, 2 * file.size).replace(b"\r\n", b"\n")
    both = (data, data.replace(b"\n", b"\r\n"))
    return next((each for each in both if hashlib.sha256(each).hexdigest() == file.sha256), None)
