"""`judge contest key`, `export` and `verify`, as an organiser and a stranger type them."""

import subprocess
import sys
from pathlib import Path

import pytest

from judge.base.errors import InputError
from judge.cli.contest.publish import export
from judge.cli.contest.verify import verify
from judge.transparency.keys import make_key
from tests import forked
from tests.contest.cups import CHANCE
from tests.publish.cups import Cup
from tests.publish.public import Public


def judge(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "judge.cli", "contest", *arguments]
    return forked.run(command, cwd=directory, text=True)


def test_an_organiser_makes_a_key_and_exports_and_a_stranger_verifies(cup: Cup, tmp_path: Path) -> None:
    made = judge(tmp_path, "key", "my.key")
    announced = (tmp_path / "my.pem").rename(tmp_path / "announced.pem")
    exported = judge(tmp_path, "export", "public", str(cup.folder), "--key", "my.key")
    verified = judge(tmp_path, "verify", "public", "--key", announced.name)

    assert 0 == made.returncode, made.stderr
    assert 0 == exported.returncode, exported.stderr
    assert "public: 20 games; open public/index.html" == exported.stdout.splitlines()[0]
    assert (tmp_path / "public-private/anna").is_dir()
    assert (0, "") == (verified.returncode, verified.stderr)
    assert verified.stdout.endswith("public: ok: spring-cup, 21 games replayed, schedule and tables computed again\n")
    announced_lines = [line for line in exported.stdout.splitlines() if line.startswith(("manifest", "key "))]
    assert announced_lines == verified.stdout.splitlines()[:2]
    assert verified.stdout.splitlines()[2].startswith(f"chance   revealed: {CHANCE}; its SHA-256, ")


def test_export_over_another_or_without_a_key_is_refused(cup: Cup, exported: Public, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="make one with: judge contest key FILE"):
        export(tmp_path / "public", cup.folder)
    assert [] == list(tmp_path.iterdir())
    make_key(tmp_path / "my.key")
    with pytest.raises(InputError, match="an export is never overwritten"):
        export(exported.directory, cup.folder, tmp_path / "my.key", tmp_path / "private")


def test_verification_without_a_key_prints_a_warning_and_fails_with_the_errors(
    copy: Public, capsys: pytest.CaptureFixture[str]
) -> None:
    verify(copy.directory)
    printed = capsys.readouterr()
    assert "WARNING" in printed.err
    assert "NOT who published them" in printed.err
    assert "ok: spring-cup" in printed.out

    (copy.directory / "extra.html").write_text("hello")
    with pytest.raises(SystemExit, match="1"):
        verify(copy.directory, copy.public_key)
    lines = capsys.readouterr().out.splitlines()
    assert "  extra.html: not in the manifest" in lines
    assert f"{copy.directory}: FAILED: 1 problem" == lines[-1]
