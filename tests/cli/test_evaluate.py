"""`judge evaluate`, whole: a frozen pool, a kill in the middle, a signed verdict, and what `judge verify` finds."""

import json
from pathlib import Path

import pytest

from tests.cli.brains import write_brain
from tests.cli.conftest import TINY, Judge
from tests.cli.running import begin

POOL = f"""
policy = "gomocup-fastgame"
change = {json.dumps([*TINY, "box.reuse=agent", "clock.starved_share=1"])}

[[agents]]
path = "leaver.py"
"""
OURS = ("evaluate", "house-instant", "--parent", "./before.py", "--against", "pool", "--key", "author.key")
EVALUATE = (*OURS, "--elo1", "400", "--alpha", "0.2", "--beta", "0.2")
"""About 20 games decide."""


@pytest.fixture
def pool(tmp_path: Path, judge: Judge) -> Path:
    """A pool, an author's key, and a parent: opponent and parent leave when they must move, so whoever begins loses."""
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool/pool.toml").write_text(POOL)
    write_brain(tmp_path / "pool", "leaver", "sys.exit(3)")
    write_brain(tmp_path, "before", "sys.exit(4)")
    assert 0 == judge("contest", "key", "author.key").code
    return tmp_path / "pool"


def records(pool: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (pool / "records").glob("*.json")}


@pytest.mark.docker
@pytest.mark.usefixtures("nothing_left")
def test_an_evaluation_survives_a_kill_and_ends_in_a_verdict_that_verify_checks(
    judge: Judge, tmp_path: Path, pool: Path
) -> None:
    running = begin(tmp_path, *EVALUATE)
    assert running.stderr
    while " games  " not in running.stderr.readline():
        assert running.poll() is None
    running.kill()
    running.communicate(timeout=60)
    before = records(pool)

    assert "stronger than its parent, 80 %" in judge(*EVALUATE, code=0).out
    assert before.items() <= records(pool).items()
    (file,) = (pool / "evaluations").iterdir()
    assert "stronger than its parent, 80 %" in judge("verify", str(file), code=0).out
    again = judge(*EVALUATE, "--json")
    assert json.loads(again.out)["evaluation"]["games"] == json.loads(file.read_text())["evaluation"]["games"]

    _forge(judge, pool, file)


def _forge(judge: Judge, pool: Path, file: Path) -> None:
    signed = file.read_text()
    file.write_text(signed.replace("stronger than its parent, 80 %", "stronger than its parent, 99 %"))
    assert "the signature is invalid" in judge("verify", str(file)).out
    file.write_text(signed)

    record = next((pool / "records").glob("*.json"))
    written = record.read_bytes()
    record.unlink()
    assert "the record is missing" in judge("verify", str(file)).out
    record.write_bytes(written.replace(b'"reason":"', b'"reason":"not ', 1))
    assert "not the record of the evaluation" in judge("verify", str(file)).out
    record.write_bytes(written)

    write_brain(pool, "leaver", "sys.exit(5)")
    assert "differs from the locked-in pool (agent leaver" in judge(*EVALUATE, code=2).err
    frozen = (pool / "pool.json").read_text()
    (pool / "pool.json").write_text(frozen.replace('"seed": "', '"seed": "0', 1))
    assert "not a locked-in pool" in judge("verify", str(file)).out


def test_a_pool_without_agents_is_refused_with_its_file(judge: Judge, pool: Path) -> None:
    (pool / "pool.toml").write_text('policy = "gomocup-fastgame"\nagents = []\n')

    assert "pool.toml" in judge(*EVALUATE, code=2).err
    assert not (pool / "pool.json").exists()
