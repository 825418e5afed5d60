"""Folders through whole runs of `judge match`: what an agent learns, what a run forgets, what a void changes."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import pytest

from judge.contest.contest import Contest, open_store
from judge.contest.plan import load_plan
from judge.host.build_images import build_images
from tests.cli.brains import brain_text, write_brain
from tests.cli.conftest import QUICK, SHORT_CLOCK, TINY, Judge, Ran, owner_of
from tests.cli.contests import write_contest
from tests.cli.running import begin, thinking
from tests.examples import of_evidence

PLAY = ("--policy", "gomocup-fastgame", "--json", *QUICK, "--set", "clock.starved_share=1")

COUNTS = brain_text(
    trick="time.sleep(PAUSE)",
    at_once="""
def count(folder):
    os.makedirs(folder, exist_ok=True)
    path = folder + "/games"
    games = int(open(path).read()) if os.path.exists(path) else 0
    open(path, "w").write(str(games + 1))
    return games

now, ever, script = count("pbrain-count"), "nowhere", open(sys.argv[0]).readline()
""",
    other="""
global ever
if line.startswith("INFO folder "):
    os.chdir("/")  # the path is absolute
    ever = count(rest.partition(" ")[2] + "/pbrain-count")
""",
    about="""'name="%s of the run, %s ever", version="%s"' % (now, ever, script[:3])""",
)
"""Counts its games in each folder, and reports the counts as its name."""

everywhere = pytest.mark.parametrize("box", [pytest.param("docker", marks=pytest.mark.docker), *of_evidence("process")])


@pytest.fixture
def counts(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if "docker" in request.node.nodeid or request.node.get_closest_marker("docker"):
        build_images(["keeper", "python"])
    return write(tmp_path, pause=0)


def write(directory: Path, pause: int) -> str:
    path = directory / "pbrain-count.py"
    path.write_text(COUNTS.replace("PAUSE", str(pause)))
    path.chmod(0o755)
    return str(path)


def found(ran: Ran, directory: Path) -> list[tuple[str, str]]:
    """What the agent found in each game, and the first bytes of the file that its command line names."""
    abouts = [seat_of(record)["about"] for record in records(ran, directory)]
    return [(about["name"], about["version"]) for about in abouts]


def records(ran: Ran, directory: Path) -> list[dict[str, Any]]:
    return [json.loads((directory / game["record"]).read_text())["record"] for game in ran.games]


def seat_of(part: dict[str, Any]) -> dict[str, Any]:
    seat: dict[str, Any]
    (seat,) = (seat for seat in part["seats"] if seat["name"] == "pbrain-count")
    return seat


def remains() -> list[str]:
    """Volumes of judges that are gone, or of this one."""
    with closing(docker.from_env()) as client:
        ours = client.api.volumes(filters={"label": "judge.owner"})["Volumes"] or []
    return [v["Name"] for v in ours if owner_of(v["Labels"]).fate().value != "alive"]


@everywhere
def test_a_run_shares_the_temporary_folder_and_runs_share_the_persistent_one(
    judge: Judge, tmp_path: Path, counts: str, box: str
) -> None:
    words = ("match", counts, "house-instant", *PLAY, "--box", box, "--games", "2")

    first = judge(*words, "--folders", "kept")
    second = judge(*words, "--folders", "kept")
    without = judge(*words[:-1], "1")

    assert [("0 of the run, 0 ever", "#!/"), ("1 of the run, 1 ever", "#!/")] == found(first, tmp_path)
    assert [("0 of the run, 2 ever", "#!/"), ("1 of the run, 3 ever", "#!/")] == found(second, tmp_path)
    assert [("0 of the run, 0 ever", "#!/")] == found(without, tmp_path)
    one, two = records(second, tmp_path)
    for kind in ("temporary", "persistent"):
        end = seat_of(one)["folders"][kind]
        assert end["digest"] == seat_of(two["spec"])["folders"][kind]
        assert [] == end["notes"]
        assert (4096, 3) == (end["used_bytes"], end["used_inodes"]) or box == "process"
    assert 0 == judge("verify", *(game["record"] for game in second.games)).code


def test_of_a_round_that_starts_from_the_first_state_only_the_last_game_counts(
    judge: Judge, tmp_path: Path, counts: str
) -> None:
    three = ("--box", "process", "--games", "3", "--set", "folders.round=first")
    words = ("match", counts, "house-instant", *PLAY, *three, "--folders", "kept")

    first, second = judge(*words), judge(*words)

    assert ["0 of the run, 0 ever"] * 3 == [name for name, _ in found(first, tmp_path)]
    assert ["0 of the run, 1 ever"] * 3 == [name for name, _ in found(second, tmp_path)]


AT_ONCE = """
folders = ["."]

def ends(folder):
    path = folder + "/pbrain-ends/ends"
    return int(open(path).read()) if os.path.exists(path) else 0
"""
KNOWS_NEITHER = """
if line.startswith("INFO folder "):
    folders.append(rest.partition(" ")[2])
    say("MESSAGE ends so far: %s" % [ends(folder) for folder in folders])
elif word in ("SWAP2BOARD", "RESTART", "DONE"):
    say("UNKNOWN")
"""
COUNTS_ENDS = """
time.sleep(0.2)
for folder in folders:
    os.makedirs(folder + "/pbrain-ends", exist_ok=True)
    count = ends(folder) + 1
    open(folder + "/pbrain-ends/ends", "w").write(str(count))
"""


@everywhere
def test_state_saved_by_a_replaced_process_at_its_end_is_there_for_the_next(
    judge: Judge, tmp_path: Path, box: str
) -> None:
    """Gomoku AI protocol: whoever does not know RESTART is ended by END, has its time for that, and is executed
    again."""
    if box == "docker":
        build_images(["keeper", "python"])
    agent = write_brain(tmp_path, "pbrain-ends", at_once=AT_ONCE, other=KNOWS_NEITHER, at_end=COUNTS_ENDS)

    game = ("--policy", "gomocup-swap2:fast", "--json", "--set", "game.options.draw_at=20")
    slow = ("--set", "clock.close_ms=10000", "--set", "clock.tolerance_ms=10000")
    folders = ("--set", "folders.temporary=true", "--set", "folders.persistent=true")
    ran = judge("match", agent, "house-instant", *game, *slow, *folders, "--box", box)

    (record,) = records(ran, tmp_path)
    (seat,) = (seat for seat in record["seats"] if seat["name"] == "pbrain-ends")
    notes = [note for note in seat["notes"] if "ends so far" in note]
    assert [f"ends so far: [{count}, {count}]" for count in range(3)] == notes[:3]
    assert 0 == judge("verify", *(game["record"] for game in ran.games)).code


@pytest.mark.docker
def test_a_void_game_changes_no_folder(judge: Judge, tmp_path: Path, counts: str, client: docker.DockerClient) -> None:
    """A game lost on time counts, and so does what it left; one whose container somebody kills does not."""
    write(tmp_path, pause=60)
    words = ("match", counts, "house-instant", *PLAY, "--folders", "kept", "--set", "attempts=1")
    judge(*words, "--set", "clock.turn_ms=500", "--set", "clock.tolerance_ms=0")
    heads = {path: path.read_text() for path in (tmp_path / "kept").rglob("heads.json")}

    with begin(tmp_path, *words, "--set", "clock.turn_ms=60000") as process:
        thinking(client, process).kill()
        out, _ = process.communicate()

    (game,) = json.loads(out)["games"]
    record = json.loads((tmp_path / game["record"]).read_text())["record"]
    state = seat_of(record)["folders"]["persistent"]["digest"]
    assert "void" == record["verdict"]
    assert seat_of(record["spec"])["folders"]["persistent"] == state
    assert any(state in text for text in heads.values())
    assert heads == {path: path.read_text() for path in heads}
    assert 0 == judge("verify", game["record"]).code
    assert [] == remains()


PAUSES = (*SHORT_CLOCK, *TINY, "clock.starved_share=1")


LEARNER = """
[[agents]]
path = "pbrain-count.py"
name = "pbrain-count"
[[agents]]
path = "house-instant"
name = "{other}"
"""


def write_cup(folder: Path, more: str = "", other: str = "house-instant") -> None:
    folder.mkdir()
    write(folder, pause=0)
    write_contest(folder, [], change=PAUSES)
    plan = folder / "contest.toml"
    plan.write_text(plan.read_text() + more + LEARNER.format(other=other))


@pytest.mark.long
@pytest.mark.docker
def test_learned_state_carries_over_between_contests(judge: Judge, tmp_path: Path) -> None:
    build_images(["native", "python", "keeper"])
    write_cup(tmp_path / "one")

    planned = judge("contest", "plan", "one")
    ran = judge("contest", "run", "one", code=0)

    assert "folders  the agents' persistent folders begin empty" in planned.out
    assert "the agents' persistent folders begin empty" in ran.err
    assert ["0 of the run, 0 ever", "1 of the run, 1 ever"] == counted(tmp_path / "one")["pbrain-count"]

    # The second contest names the first.
    write_cup(tmp_path / "two", '[folders]\nfrom = "../one"\n', other="newcomer")
    planned = judge("contest", "plan", "two")
    assert "with those of ../one; pbrain-count; empty: newcomer" in planned.out
    ran = judge("contest", "run", "two", code=0)
    assert ["0 of the run, 2 ever", "1 of the run, 3 ever"] == counted(tmp_path / "two")["pbrain-count"]
    late = judge("contest", "folders", "two", "--from", "learned")
    assert (2, True) == (late.code, "has begun and is locked in" in late.err)

    # Exported, and brought into a third contest.
    out = judge("contest", "folders", "two", "--export", "learned")
    assert (0, True) == (out.code, "wrote learned: 1 folders" in out.out), out.err
    assert "--force replaces it" in judge("contest", "folders", "two", "--export", "learned").err
    write_cup(tmp_path / "three")
    judge("contest", "folders", "three", "--from", "learned", code=0)
    assert "begin with those of learned; pbrain-count; empty: house-instant" in judge("contest", "plan", "three").out
    assert [] == remains()


def counted(folder: Path) -> dict[str, list[str]]:
    """What each agent found in its folders, in the order of the schedule."""
    planned = load_plan(folder)
    found: dict[str, list[str]] = {}
    with closing(open_store(planned)) as store:
        contest = Contest(store, planned)
        for result in contest.view().results:
            for seat in contest.record(result.record).record.seats:
                found.setdefault(seat.name, []).append(seat.about["name"])
    return found
