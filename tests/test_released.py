"""Each later version reads the files of a release as the version that wrote them."""

import json
from pathlib import Path

import pytest

from tests.released.files import STATED, read_files, write_files

RELEASED = Path(__file__).parent / "released"


@pytest.mark.slow
@pytest.mark.parametrize("version", ["present", *sorted(path.parent.name for path in RELEASED.glob(f"*/{STATED}"))])
def test_files_of_a_version_are_read_as_by_it(version: str, tmp_path: Path) -> None:
    folder = RELEASED / version
    if version == "present":
        folder = tmp_path / version
        write_files(folder)

    stated = json.loads((folder / STATED).read_text(encoding="utf-8"))
    assert stated == read_files(folder, tmp_path)
    assert [True] * 3 == [stated[name] for name in ("record verified", "export verified", "backup restored")]
    assert stated["store"] == stated["restored"]
