"""Exports in a contest's folder."""

import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from judge.base.durable_files import sha256_of
from judge.base.errors import HostError
from judge.base.text import sentence
from judge.contest.contest import Contest, open_store
from judge.contest.file_names import EXPORTS
from judge.contest.plan import load_plan
from judge.publish.export.export import publish
from judge.publish.manifest import MANIFEST
from judge.transparency.keys import KEY_FILE, load_key


def write_export(plan: str, number: str) -> str:
    """Write the export with this number to a contest's folder, unless it is there; return a description."""
    planned = load_plan(Path(plan))
    target = planned.folder / EXPORTS / number
    public, private = target / "public", target / "private"
    warnings: Sequence[str] = ()
    if not public.exists():
        # Without the public part the export is incomplete.
        try:
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
        except OSError as error:
            raise HostError(f"{error.filename}: {error.strerror}: the export is not written") from None
        with closing(open_store(planned)) as store:
            contest = Contest(store, planned)
            key = load_key(planned.folder / KEY_FILE)
            warnings = publish(contest, public, private, key).warnings
    digest = sha256_of(public / MANIFEST)
    place = f"{EXPORTS}/{number}"
    words = sentence(f"{place}/public is for everybody, {place}/private for the authors; manifest {digest}")
    return "; ".join([words, *warnings])
