"""Plays the sources of the corpus that are missing: most records are games that other tests play between scripts."""

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.agents.manifest import AgentManifest
from judge.base.errors import InputError
from judge.catalog.files import steps_of
from judge.cli.submit import open_intake
from judge.contest.orders.submission_orders import Late
from judge.contest.plan import load_plan
from judge.contest_games import ScheduledGame
from judge.journal.events import (
    FoldersTransferred,
    ImagesChanged,
    Moment,
    NotEntered,
    Rated,
    Resumed,
    ScheduleChanged,
    SetAside,
    SettingChange,
    SettingsChanged,
    StartRatingsRead,
    StartTimeReached,
    Stopped,
    SubmissionsClosed,
    SubmissionsOpened,
    WorkerBarred,
    WorkerJoined,
    WorkerLost,
    WorkerNoted,
)
from judge.protocols import protocol_entry
from judge.record.policy import load_policy
from judge.record.spec import GameSpec, KeptFolders, Placement, RecordFile
from judge.record.transcript import mark_private, seal
from judge.referee.blame import Cause, judge_failure
from judge.referee.verify import record_of, verify
from judge.sandbox.evidence import Evidence
from judge.store.contests import Store
from judge.store.types import (
    ProcessingResult,
    Upload,
)
from judge.testing import ScriptedGame, World, dies, scripted_seats
from judge.transparency.keys import make_key
from tests import contests
from tests.contest.giving import give
from tests.corpus.archive import SOURCE, pack, parts, path_of, read
from tests.corpus.contests import KEY
from tests.corpus.records import features, wanted_features
from tests.export.test_evaluation_file import written as write_evaluation
from tests.publish.cups import ENGLISH, Cup, voided
from tests.publish.public import Public
from tests.referee import test_fuzz
from tests.referee.games import BLACK_ROW, WHITE_ROW, brain
from tests.referee.test_fuzz import MISDEEDS, SPECS, Will
from tests.verify import test_cups as cups
from tests.verify.forger import FORMS
from tests.verify.test_ladder import order

RECORDS, OF_PART = 200, 20

MAX_BYTES = 60_000
"""Of a record."""

MANY_PLIES = 40
"""A longer game is no better."""

PLAYED_BY = ("referee", "play", "record", "formats", "conformance", "games")
"""Folders whose tests play games between scripts."""


def record_parts() -> dict[str, dict[str, str]]:
    """Sources of records: the stored ones that are still sound, then games that reach what these do not.

    Without stored ones, the first part reaches most.
    """
    chosen = dict(_stored())
    reached = {name: features(file) | _shape(file) for name, file in chosen.items()}
    asked = wanted_features()
    if len(chosen) < RECORDS or not asked <= set().union(*reached.values()):
        played = {name: file for name, file in _candidates() if _is_sound(file)}
        pool = {f"{name}, again" if name in chosen else name: file for name, file in played.items()}
        missing = everything = set[str]().union(*(features(file) | _shape(file) for file in pool.values()))
        missing = missing.difference(*reached.values())
        reached |= {name: features(file) | _shape(file) for name, file in pool.items()}
        plies = {name: min(len(file.record.plies), MANY_PLIES) for name, file in pool.items()}
        needed = missing & asked
        while len(chosen) < RECORDS or needed:
            left = [name for name in pool if name not in chosen]
            best = max(
                left, key=lambda name: (len(reached[name] & missing & asked), len(reached[name] & missing), plies[name])
            )
            chosen[best] = pool[best]
            needed = needed - reached[best]
            missing = missing - reached[best] or everything
    texts = [(name, file.to_json().decode()) for name, file in chosen.items()]
    return {
        f"records-{number // OF_PART:02}": dict(texts[number : number + OF_PART])
        for number in range(0, len(texts), OF_PART)
    }


def _stored() -> Iterator[tuple[str, RecordFile]]:
    for part in parts():
        if part.startswith("records-"):
            for name, text in read(part, SOURCE).items():
                with suppress(ValueError):
                    if _is_sound(file := RecordFile.model_validate_json(text)):
                        yield name, file


def _shape(file: RecordFile) -> set[str]:
    """What makes records different that reach the same."""
    record = file.record
    words = re.sub(r"[\d.]+|'.*?'", "0", record.reason)
    return {f"reason: {words}", f"length: {record.spec.policy.name}, {len(record.plies).bit_length()}"}


def _is_sound(file: RecordFile) -> bool:
    """Whether a record is small, is verified and has steps: some tests play in impossible worlds."""
    with suppress(InputError, ValueError):
        again = RecordFile.model_validate_json(file.to_json())
        is_small = len(file.to_json()) <= MAX_BYTES
        return is_small and not verify(again).problems and not steps_of(again).problem
    return False


def _candidates() -> Iterator[tuple[str, RecordFile]]:
    harvest = _Harvest()
    folders = [f"tests/{folder}" for folder in PLAYED_BY]
    if pytest.main(["-q", "-n0", "-m", "not docker", "--assert=plain", *folders], plugins=[harvest]):
        raise SystemExit("the tests whose games are recorded do not pass")
    games = {**dict(harvest.games()), **dict(_of_every_policy()), **dict(_measured())}
    yield from games.items()
    for name, file in games.items():
        if file.record.plies and file.record.verdict == "win" and len(file.record.plies) % 5 == 0:
            ended = voided(file)
            yield f"{name}, host failed", ended
            reason = judge_failure(Cause.JUDGE, "after an answer: TypeError").reason
            record = ended.record.model_copy(update={"reason": reason})
            yield f"{name}, judge failed", RecordFile(record=record, transcript=ended.transcript)


class _Harvest:
    """Plug-in of pytest that keeps the games of tests, except those that Hypothesis plays."""

    def __init__(self) -> None:
        self._test = ""
        self._games: list[tuple[str, ScriptedGame, GameSpec]] = []
        plain = ScriptedGame.__init__

        def kept(game: ScriptedGame, world: World, spec: GameSpec) -> None:
            plain(game, world, spec)
            if self._test:
                self._games.append((self._test, game, spec))

        self._patch = patch.object(ScriptedGame, "__init__", kept)

    def pytest_sessionstart(self) -> None:
        self._patch.start()

    def pytest_sessionfinish(self) -> None:
        self._patch.stop()

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        is_random = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        self._test = "" if is_random else item.nodeid.removeprefix("tests/").replace(".py::test_", ": ")

    def games(self) -> Iterator[tuple[str, RecordFile]]:
        numbers: dict[str, int] = {}
        for test, played, spec in self._games:
            numbers[test] = numbers.get(test, 0) + 1
            with suppress(InputError, ValueError):
                yield f"{test} {numbers[test]}", _file(spec, played.end, played.referee, played.world.entries)


def _of_every_policy() -> Iterator[tuple[str, RecordFile]]:
    """Games of every policy and every two protocols: without misdeeds, and with each kind."""
    for number, spec in enumerate(SPECS):
        for deed in (None, number % len(MISDEEDS)):
            chance = random.Random(f"{number} {deed}")
            wills = [
                Will(chance.randrange(1 << 32), [] if deed is None else [(chance.randint(1, 9), deed)], b"")
                for _ in spec.seats
            ]
            names = "-".join(seat.protocol for seat in spec.seats)
            kind = "polite" if deed is None else MISDEEDS[deed].__name__.strip("_")
            yield f"{spec.policy.name} {number}: {names}, {kind}", test_fuzz.recorded(spec, wills)


CHANGES = ("box.reuse=agent", "clock.match_ms=60000")


def _measured() -> Iterator[tuple[str, RecordFile]]:
    """Agents with kept folders and boxes: two are late, and the kernel kills one for memory that the host lacks.

    All that is measured has a value.
    """
    kept = KeptFolders(name="kept", temporary="1" * 64, persistent="2" * 64)
    plain = GameSpec(seats=scripted_seats("gomocup"), policy=load_policy("gomocup-freestyle", CHANGES))
    seats = (plain.seats[0].model_copy(update={"folders": kept}), plain.seats[1])
    spec = plain.model_copy(update={"seats": seats})
    shares: dict[str, Any] = {name: 0.01 for name in Evidence.model_fields if name.endswith("_share")}
    usual = Evidence(
        memory_peak_bytes=40 << 20,
        memory_cap_bytes=400 << 20,
        oom_kills=0,
        cpu_ns=5_900_000_000,
        reached_cap=False,
        kernel_peak_bytes=2 << 20,
        held_by_others=False,
        opponent_cpu_ns=7_000_000,
        **shares | {"others_share": 0.02},
    )
    for name, second, readings in (
        ("late", brain("0,1", ms=1e6), usual),
        ("out of time", brain(*WHITE_ROW, ms=29_000), usual),
        ("killed below its cap", brain("0,1", TURN=dies(9)), usual.model_copy(update={"oom_kills": 1})),
    ):
        world = World(brain(*BLACK_ROW[:-1], *(f"{x},9" for x in range(0, 19, 2))), second, readings=readings)
        played = ScriptedGame(world, spec)
        yield f"measured: {name}", _file(spec, played.end, played.referee, world.entries)


def _file(spec: GameSpec, end: Any, referee: Any, entries: Sequence[Any]) -> RecordFile:
    """A record with the private parts of its transcript marked, as of a game in a slot of two cores."""
    tests = [protocol_entry(seat.protocol).is_private for seat in spec.seats]
    sealed = seal(mark_private(entries, lambda seat, line: tests[seat](line)))
    cores = ((1,), (2,)) if spec.policy.clock.ponder else ()
    place = Placement(box=("world", "world"), judge_cores=(), slot_cores=(1, 2), seat_cores=cores)
    at = "2013-03-01T20:00:00+00:00"
    made = record_of(spec, end, referee, attempt=1, started_at=at, placement=place, transcript=sealed)
    return RecordFile(record=made, transcript=sealed)


# --- contests --------------------------------------------------------------------------------------------------------


def ordering(cup: Cup) -> None:
    """The organiser disqualifies an agent, pauses and resumes, and annuls a result."""
    cup.play(6)
    give(cup.contest, order("disqualify", "it reads the records of others", "bert"))
    give(cup.contest, order("pause", "a break"))
    give(cup.contest, order("resume", "the break is over"))
    give(cup.contest, order("void", "a power cut", cup.store.results(cup.contest.name)[0].id))
    cup.play()


def ending_early(cup: Cup) -> None:
    """A ladder with a new version of an agent; admissions are frozen for a while, and the season ends by an order."""
    contests.with_a_new_version(cup)
    give(cup.contest, order("freeze-admissions", "a break"))
    cup.play(3)
    give(cup.contest, order("reopen-admissions", "the break is over"))
    cup.play(3)
    give(cup.contest, order("end-season", "the term is over"))
    cup.play()


def revealing(cup: Cup) -> None:
    """The results of the last rounds are withheld, and revealed one round after the other."""
    cup.play()
    for word in ("next", "all"):
        give(cup.contest, order("reveal", "the ceremony", word))


RECIPES: Mapping[str, contests.Recipe] = {
    **{name: form.recipe for name, form in FORMS.items()},
    "logged": contests.LOGGED,
    "round-robin-with-voids": replace(contests.ROUND_ROBIN, pages=ENGLISH),
    "swiss-withdrawn": contests.WITHDRAWN["swiss"],
    "swiss-late-and-withdrawn": contests.LATE_AND_WITHDRAWN,
    "groups-withdrawn": contests.WITHDRAWN["groups"],
    "leagues": contests.Recipe("leagues", form='name = "leagues"\ngames = 2\nsizes = [2]\npromoted = 1'),
    "double-round-robin-disqualified": contests.Recipe(
        "disqualified", form='name = "double-round-robin"\ngames = 1', happens=ordering
    ),
    "sprt": contests.Recipe(
        "sprt",
        contests.PAIR,
        'name = "sprt"\ngames = 10\nrounds = 2\ntest = { elo0 = 0, elo1 = 2, model = "normalized" }',
    ),
    "round-robin-running": contests.Recipe("running", happens=lambda cup: cup.play(7, void=[2])),
    "swiss-revealed": contests.Recipe(
        "revealed",
        form='name = "swiss"\nrounds = 3\ngames = 1',
        more="[freeze]\nlast_rounds = 2",
        happens=revealing,
        options={"drawn": contests.nothing},
    ),
    "ladder-running": contests.JOINING,
    "ladder-ended": replace(contests.VERSIONS, name="ended", happens=ending_early),
}


def contest_parts() -> dict[str, dict[str, str]]:
    """Missing sources of contests: their folders, with the organiser's key."""
    makers: dict[str, Callable[[Path], object]] = {
        **{name: partial(_play, recipe) for name, recipe in RECIPES.items()},
        "incidents": _play_incidents,
        "announced": _announce,
        "cup": _play_cup,
        "evaluation": write_evaluation,
    }
    found = {}
    for name in [name for name in makers if not path_of(f"contest-{name}", SOURCE).exists()]:
        ids, salts = ((f"{number:032x}" for number in count(1)) for _ in range(2))
        with (
            TemporaryDirectory() as place,
            patch.object(Ed25519PrivateKey, "generate", lambda: KEY),
            patch("judge.store.orders.new_order_id", partial(next, ids)),
            patch("judge.store.database.new_salt", partial(next, salts)),
        ):
            makers[name](Path(place))
            found[f"contest-{name}"] = pack(Path(place))
    return found


def _play(recipe: contests.Recipe, folder: Path) -> None:
    recipe._play(folder)
    make_key(folder / "organiser.key")


def submissions(folder: Path) -> None:
    """What happens to submissions between the announcement of a contest and its beginning."""
    with closing(open_intake(folder).register()) as register:
        for number, author in enumerate(("ada", "eve", "ida", "kim", "lea", "ute"), 1):
            taken = register.receive(Upload(author, f"{author}s", f"{author}.zip", f"{number}" * 64, 1), worker="w")
            if author == "lea":
                register.fail(taken.id, taken.attempt, "the Engine was gone", allowed=1)
            elif author != "ute":
                refusal = "it has no agent.toml" if author == "ida" else ""
                agent = AgentManifest(name=f"{author}s", command=("./a",), author=author).model_dump(mode="json")
                described = json.dumps({"manifest": agent, "program": "1" * 64, "executables": []})
                result = ProcessingResult(refusal, f"{author}s", f"{number}" * 64, described, None, None)
                register.finish(taken.id, taken.attempt, result)
        register.refuse(2, "Olga", "not its author's program")
        register.approve(2, "Olga", "it is")
        register.withdraw(4, "kim", "by the author")
        register.note(SettingsChanged((SettingChange("about", "A cup", "A small cup"),), "it is small"))
        with closing(open_intake(folder).tokens()) as tokens:
            tokens.make("zoe", "Olga")
        Late(register, order(Late.action, "the mail server was down", "zoe")).carry_out()
    with closing(Store(load_plan(folder / "contest.toml").store_url)) as store:
        moment = Moment("2013-03-02T18:00:00+00:00")
        for event in (
            ScheduleChanged(moment, moment, moment),
            *(kind(moment) for kind in (SubmissionsOpened, SubmissionsClosed, StartTimeReached)),
        ):
            store.log_once("spring-cup", event, "judge")


def incidents(cup: Cup) -> None:
    """Attempts that are abandoned or too late, a game that is set aside, and one after which the contest stops."""
    store, name = cup.store, cup.contest.name
    cup.play(1)
    for event in (
        WorkerJoined("worker-1", 2),
        WorkerBarred("worker-1", "its clock is wrong; then start it again"),
        WorkerLost("worker-1"),
        WorkerNoted("game 1, attempt 1, of worker worker-1 starts again"),
        FoldersTransferred("exported to folders: 2 states"),
        ImagesChanged("built anew since the start: native"),
        StartRatingsRead("the agents start from their ratings in last-year"),
        NotEntered("zoes", "its name is taken"),
        Rated("anna", 1720, 30),
    ):
        store.remark(name, event)
    for why, is_set_aside in (("a disk was full", True), ("the Engine was gone", False)):
        first, second = (_issued(cup, why) for _ in range(2))
        store.void(first.id, first.attempt, why, None, allowed=1)
        store.void(second.id, second.attempt, why, None, allowed=1)
        if is_set_aside:
            store.remark(name, SetAside(second.id, 1, why))
        else:
            store.set_state(name, Stopped(second.first, second.second, 1, why))
            store.set_state(name, Resumed(why))
        store.release(name, why, second.id if is_set_aside else None)
    cup.play()


def _issued(cup: Cup, why: str) -> ScheduledGame:
    """The next game; its attempt is abandoned if another one runs."""
    name = cup.contest.name
    cup.store.roll_back(name, why)
    issued = cup.store.issue(name, "here", cup.contest.alone)
    assert issued is not None
    return issued


def _play_incidents(folder: Path, copy: Path | None = None) -> None:
    """A contest with submissions and incidents; `copy`: of its folder before it begins."""

    def between(_store: Store) -> None:
        submissions(folder)
        if copy is not None:
            shutil.copytree(folder, copy, dirs_exist_ok=True)
        with closing(open_intake(folder).register()) as register:
            for number in (1, 2):
                register.withdraw(number, "Olga", "neither plays")

    with contests.steady_clock(), Cup(folder, contests.PAIR, 'name = "round-robin"\ngames = 6', drawn=between) as cup:
        incidents(cup)
    make_key((copy or folder) / "organiser.key")


def _announce(folder: Path) -> None:
    with TemporaryDirectory() as place:
        _play_incidents(Path(place), folder)


def _play_cup(folder: Path) -> None:
    key = cups.play_cup(folder)
    cups.publish_cup(folder, Public(folder, key))
    for part in ("public", "private", "announced.pem"):
        path = folder / part
        shutil.rmtree(path) if path.is_dir() else path.unlink()
