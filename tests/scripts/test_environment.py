"""The environment of the scripts."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_environment_that_a_link_names_is_not_emptied(tmp_path: Path) -> None:
    """`python -m venv --clear` follows a link, to the packages of another checkout."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "kept").touch()
    (tmp_path / ".venv").symlink_to("other")

    ran = subprocess.run(
        ["bash", "-c", "source scripts/lib.sh; ensure_venv"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert ran.returncode != 0
    assert f"rm {tmp_path}/.venv" in ran.stderr + ran.stdout
    assert (tmp_path / "other" / "kept").exists()
