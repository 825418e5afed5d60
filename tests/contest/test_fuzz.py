"""Whatever an organiser's files hold: a plan or a refusal that names the file, within a bound of work for each byte."""

from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import InputError
from judge.contest.folder_transfer import read_any
from judge.contest.plan import Planned, load_plan
from judge.publish.export.evaluation_file import read_pool
from judge.record.policy import load_policy
from judge.sandbox.docker.seccomp import load_profile
from judge.transparency.checkpoint import COSIGNATURE, verifier_key
from tests.examples import FAST, examples, sized
from tests.hostile import assert_bounded, byte_changes, one_change_each, read_or_refuse, refused, toml_files

EVERY = 1 if FAST else sized(3, 1)
"""One of this number of changes is tried."""

WITNESS = verifier_key("w", COSIGNATURE, Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key())
CONTEST = f"""name = "cup"
about = "a cup"
policy = "gomocup-standard:fast"
change = ["clock.turn_ms=100"]
seed = 1
seeding = "listed"
seeds = ["one"]
store = "sqlite:///contest.db"
box = "docker"
zone = "Europe/Prague"
duel = {{win = 1, draw = 0.5, loss = 0}}
[format]
name = "round-robin"
games = 2
[openings]
file = "openings.txt"
shuffle = true
[folders]
from = "../last"
[failures]
limit = 0.1
after = 20
[ratings]
with = ["../last"]
anchors = {{one = 1500}}
[slots]
cores = 1
[broadcast]
delay_s = 1.0
[submissions]
opens = 2026-01-01T00:00:00
closes = 2026-01-02T00:00:00
[contest]
starts = 2026-01-03T00:00:00
[intake.notices]
[[agents]]
path = "./one"
name = "one"
[[agents]]
path = "house-strong"
[[witnesses]]
key = "{WITNESS}"
url = "https://witness.example/"
"""
POLICY = """name = "mine"
about = "mine"
admits = ["native"]
attempts = 3
[game]
name = "gomoku"
protocol = "gomocup"
[game.options]
rule = "standard"
width = 15
height = 15
[clock]
turn_ms = 1000
match_ms = 100000
[limits]
memory_bytes = 20000000
[bytes]
game_bytes = 1000000
[folders]
persistent = true
[box]
freeze = "auto"
[runtimes]
mine = "sha256:0"
[variants.fast.clock]
turn_ms = 100
"""
PROFILE = """about = "mine"
missing = ["a"]
[allow]
read = ["read"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("cup")
    (found / "openings.txt").write_text("h8i9j7\n")
    return found


def plan(path: Path) -> None:
    """Read a contest.toml, and ask it for everything that it computes from its file."""
    use(load_plan(path))


def use(planned: Planned) -> None:
    windows = planned.plan.windows
    assert bool(windows.moments) == bool(windows.words)
    assert isinstance(planned.waits_for(), str)
    assert isinstance(planned.has_no_store, bool)
    assert all(agent.locate(planned.folder) for agent in planned.plan.agents)
    folders = planned.folder / planned.plan.folders.from_
    for read in (planned.openings, lambda: read_any(folders, planned)):
        with suppress(InputError):
            read()


def policy(path: Path) -> None:
    load_policy(str(path)).enforced()
    load_policy(f"{path}:fast")


def profile(path: Path) -> object:
    return load_profile(str(path)).engine_form()


READERS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "contest": (plan, "contest.toml", CONTEST),
    "policy": (policy, "policy.toml", POLICY),
    "profile": (profile, "profile.toml", PROFILE),
}


@pytest.mark.parametrize("reader", READERS)
def test_every_value_of_every_key_is_read_or_refused(folder: Path, reader: str) -> None:
    read, name, text = READERS[reader]
    assert not refused(read, folder / name, text.encode())

    changes = islice(one_change_each(text), 0, None, EVERY)
    assert {True, False} == {refused(read, folder / name, data) for data in changes}


@pytest.mark.parametrize("reader", READERS)
@given(st.data())
@settings(max_examples=examples(100))
def test_any_file_is_read_or_refused_within_bounds(folder: Path, reader: str, data: st.DataObject) -> None:
    read, name, text = READERS[reader]

    read_or_refuse(read, folder / name, data.draw(toml_files(text)))


@given(byte_changes(b'{"document":"judge-pool-1","members":[{"name":"a"}]}'))
@settings(max_examples=examples(100))
def test_any_pool_is_read_or_refused(folder: Path, data: bytes) -> None:
    read_or_refuse(read_pool, folder / "pool.json", data)


def test_work_that_grows_with_the_square_is_beyond_the_bounds() -> None:
    def search(size: int) -> None:
        for _ in range(size):
            for _ in range(size):
                pass

    assert_bounded(lambda: search(100), 1000)
    with pytest.raises(AssertionError, match="lines of Python for 1000 bytes"):
        assert_bounded(lambda: search(450), 1000)
    with pytest.raises(AssertionError, match="bytes of memory for 1000 bytes"):
        assert_bounded(lambda: bytes(16 << 20), 1000)
