"""`judge contest init`: options, questions on a terminal, and the next contest from the last one with its ratings."""

import json
import re
import stat
import tomllib
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from judge.agents.agents import stage_agent
from judge.agents.store import AgentStore
from judge.cli.contest.init_options import fair_games, local_zone, next_weekday
from judge.contest.contest import Contest
from judge.contest.earlier_contests import read_contest
from judge.contest.entries import entrants, intake_directory
from judge.contest.plan import load_plan
from judge.journal.events import SubmissionState
from judge.publish.before_export import with_joined
from judge.publish.export.export import PageOptions, publish
from judge.store.tokens import TokenRole, Tokens
from judge.store.types import ProcessingResult, Upload, UploadStep
from judge.transparency.keys import make_key
from tests.cli.conftest import Judge
from tests.cli.contests import JUDGE
from tests.cli.terminal import Terminal
from tests.contests import Recipe, nothing
from tests.publish.cups import Cast, Cup, player
from tests.publish.public import Public


def test_options_fill_title_clocks_and_schedule(judge: Judge, tmp_path: Path) -> None:
    judge(
        *("contest", "init", "cup", "--game", "gomoku", "--title", 'The "Cup"', "--turn-ms", "300"),
        *("--match-ms", "90000", "--zone", "Europe/Prague", "--closes", "2027-03-31 18:00"),
        *("--starts", "2027-03-31T18:30"),
        code=0,
    )

    planned = load_plan(tmp_path / "cup")
    assert 'The "Cup"' == planned.plan.title
    assert (300, 90000) == (planned.policy.clock.turn_ms, planned.policy.clock.match_ms)
    assert datetime(2027, 3, 31, 16, 0, tzinfo=UTC) == planned.plan.windows.closes
    assert datetime(2027, 3, 31, 16, 30, tzinfo=UTC) == planned.plan.windows.starts


def test_init_writes_agents_and_a_time_control_and_no_second_file(judge: Judge, tmp_path: Path) -> None:
    """An agent beside it, one with a name beyond 16 bits, in the current directory itself."""
    for name in ("mine.py", "🤖 \x7f.py"):
        (tmp_path / name).write_text("#!/usr/bin/env python3\n")
    agents = ("--agent", "mine.py", "--agent", "./🤖 \x7f.py", "--agent", "house-strong")
    words = ("contest", "init", "cup", "--policy", "gomocup-fastgame", "--clock", "600|3x30", *agents)
    made, again = judge(*words), judge(*words)
    assert (0, 2, True) == (made.code, again.code, "exists: edit it" in again.err), made.err

    planned = judge("contest", "plan", "cup", "--json").document
    shown = judge("contest", "plan", "cup").out

    assert ["mine", "____", "house-strong"][0::2] == planned["agents"][0::2]
    assert not [each for each in planned["missing"] if "no file or directory" in each]
    assert "600|3x30" == load_plan(tmp_path / "cup").policy.clock.control
    assert "clocks   600|3x30 (600 s a game, then 3 x 30 s byo-yomi), 350 MiB" in shown
    assert "with 40 answers of each seat, 1 h 2 min a game" in shown
    assert "chance   secret, drawn and committed to when the contest is announced or begins" in shown
    assert [tmp_path / "cup" / "contest.toml"] == list((tmp_path / "cup").iterdir())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("cup", "--policy is missing"),
        ("cup --game chess", "--game chess"),
        ("cup --game renju", "--game renju: no such game: use --policy agi-renju or --policy renju-15"),
        ("cup --game gomoku --policy renju-15", "give one of them"),
        ("cup --game gomoku --closes Friday", "write such as '2027-03-31 18:00'"),
        ("cup --game gomoku --closes 2020-03-31T18:00", "it has passed"),
        ("cup --game gomoku --authors nobody.txt", "nobody.txt: No such file"),
        ("cup --from last --authors nobody.txt", "leave out"),
        ("cup --game gomoku --closes 2037-03-31T18:00 --url cup.example.org", "write it as https://"),
        ("cup --game gomoku --closes 2027-03-31T18:00 --zone Atlantis", "zone 'Atlantis' is not known"),
        ("cup --game gomoku --closes 2037-03-31T18:00 --store mysql://x", "expected sqlite:///FILE or postgresql"),
        ("cup --from nowhere", "nowhere"),
        ("a\xa0b --game gomoku", "a contest's name has 1 to 64 letters"),
        ("cup --game gomoku --format chess", "--format chess: use one of"),
        ("cup --game gomoku --agent b\udcff/x", "is not UTF-8"),
        ("cup --game gomoku --agent house-renjo", "or a house agent such as house-renju"),
    ],
)
def test_refused_options_leave_nothing(judge: Judge, tmp_path: Path, words: str, why: str) -> None:
    ran = judge("contest", "init", *words.split(" "))

    assert (2, "") == (ran.code, ran.out)
    assert why in ran.err
    assert [] == list(tmp_path.iterdir())


def test_contest_for_authors_has_key_announcement_and_private_links(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "authors.txt").write_text("Ada L.\nBob\n")

    made = judge(
        *("contest", "init", "cup", "--game", "gomoku", "--closes", "Fri 18:00", "--zone", "Europe/Prague"),
        *("--authors", "authors.txt", "--url", "https://example.org/cup/", "--store", "sqlite:///games.db"),
        code=0,
    )

    folder = tmp_path / "cup"
    planned = load_plan(folder)
    closes = planned.plan.windows.closes
    assert closes is not None
    assert (4, 18, 0) == (closes.weekday(), closes.hour, closes.minute)
    assert timedelta() < closes - datetime.now(UTC) <= timedelta(days=7, hours=1)
    assert closes == planned.plan.windows.starts
    problems = judge("contest", "plan", "cup", "--json").document["missing"]
    (missing,) = [each for each in problems if "contest.toml" in each]  # others are of the host
    assert "needs 2 to 1000 agents" in missing
    links = (folder / "links.txt").read_text().splitlines()
    assert 0o600 == (folder / "links.txt").stat().st_mode & 0o777
    assert "sqlite:///games.db" == planned.plan.store
    assert (folder / "games.db").is_file()
    assert ["organiser", "Ada L.", "Bob"] == [line.partition(": ")[0] for line in links]
    with closing(Tokens(planned.store_url, "cup")) as tokens:
        organiser = tokens.organiser_of(links[0].partition("#")[2])
        authors = [tokens.author_of(line.partition("#")[2]) for line in links[1:]]
    assert organiser is not None
    assert (TokenRole.ORGANISER, ["Ada L.", "Bob"]) == (organiser.role, authors)
    assert links[1].startswith("Ada L.: https://example.org/cup/author/index.html#")
    announced = (folder / "announcement.txt").read_text()
    assert announced == judge("contest", "announce", "cup", "--url", "https://example.org/cup").out
    assert "commitment" in announced
    assert planned.plan.openings.file
    assert (20, "20 games of each pairing" in made.out) == (planned.plan.format.games, True)
    assert not {*links} & {*made.out.splitlines()}
    assert "are for this machine" not in made.err


def test_longest_time_is_the_same_before_and_after_agents_are_there(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "authors.txt").write_text("Ada L.\nАda L.\n")  # noqa: RUF001
    agents = [word for name in ("instant", "strong", "stamp") for word in ("--agent", f"house-{name}")]
    closes = ("--game", "gomoku", "--closes", "2037-03-31T18:00")

    by_list, by_number = (
        judge("contest", "init", name, *closes, "--format", "double-round-robin", *more)
        for name, more in (("listed", agents), ("few", ("--authors", "authors.txt", *agents[:2])))
    )

    (longest,) = re.findall("at most .* if agents use all their time, on .*", judge("contest", "plan", "listed").out)
    assert longest in by_list.out
    assert longest in by_number.out
    assert "the authors Ada L. and Аda L. look alike" in by_number.err  # noqa: RUF001
    assert "are for this machine: before you send them, replace http://127.0.0.1:8000 in both files" in by_list.err


def test_failure_in_an_existing_folder_leaves_what_was_there(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "cup").mkdir()
    (tmp_path / "cup" / "links.txt").write_text("mine")
    (tmp_path / "authors.txt").write_text("Ada\n")

    judge("contest", "init", "cup", "--game", "gomoku", "--authors", "authors.txt", code=1)

    assert ["links.txt"] == [path.name for path in (tmp_path / "cup").iterdir()]


def test_backup_of_a_contest_for_authors_has_no_token(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "authors.txt").write_text("Ada\n")
    judge("contest", "init", "cup", "--game", "gomoku", "--authors", "authors.txt")
    links = (tmp_path / "cup" / "links.txt").read_text()

    judge("contest", "backup", "cup", "saved", code=0)

    tokens = [line.partition("#")[2].encode() for line in links.splitlines()]
    files = [path.read_bytes() for path in (tmp_path / "saved").rglob("*") if path.is_file()]
    assert [] == [token for token in tokens for data in files if token in data]


@pytest.mark.parametrize(
    ("zone", "name"),
    [
        (":Europe/Prague", "Europe/Prague"),
        ("/usr/share/zoneinfo/Europe/Prague", "Europe/Prague"),
        ("Etc/GMT+5", "Etc/GMT+5"),
        ("Etc/UTC", "UTC"),
        ("nowhere", "UTC"),
    ],
)
def test_zone_of_the_machine_has_a_name(zone: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    assert name == local_zone()


@pytest.mark.parametrize(("agents", "games"), [(0, 6), (2, 20), (3, 20), (5, 10), (8, 6), (20, 4), (41, 2), (300, 2)])
def test_games_of_a_pairing_give_each_agent_about_forty(agents: int, games: int) -> None:
    assert games == fair_games(agents)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Fri 18:00", "2026-11-27T18:00:00"),
        ("friday 9:05", "2026-11-27T09:05:00"),
        ("Wed 12:00", "2026-12-02T12:00:00"),
        ("Wed 12:01", "2026-11-25T12:01:00"),
        *((unchanged, unchanged) for unchanged in ("Fr 18:00", "Fry 18:00", "Fri 24:00", "2027-01-01 10:00")),
    ],
)
def test_weekday_is_the_next_one(text: str, moment: str) -> None:
    assert moment == next_weekday(text, datetime(2026, 11, 25, 12, 0))  # noqa: DTZ001 - a local time


def test_terminal_is_asked(tmp_path: Path) -> None:
    terminal = Terminal([*JUDGE, "contest", "init", "cup"], tmp_path, 120, 60)
    for question, answer in (
        ("Policy [", "nosuch"),
        ("unknown policy", "gomocup-fastgame"),
        ("Title [cup]", "Weekend Cup"),
        ("Milliseconds for a move", "250"),
        ("all moves of a game", ""),
        ("Format (", "swiss"),
        ("Games of each pairing", "4"),
        ("Time zone [UTC]", ""),
        ("Submissions open", ""),
        ("Submissions close", "2027-03-31 18:00"),
        ("Contest starts", ""),
    ):
        terminal.until(lambda text, question=question: question in text)  # type: ignore[misc]
        terminal.type(f"{answer}\r")
    terminal.to_the_end(0)

    planned = load_plan(tmp_path / "cup")
    assert ("Weekend Cup", "swiss", 4) == (planned.plan.title, planned.plan.format.name, planned.plan.format.games)
    assert ("clock.turn_ms=250",) == planned.plan.change
    assert datetime(2027, 3, 31, 18, tzinfo=UTC) == planned.plan.windows.closes
    assert None is planned.plan.windows.starts


LAST = """name = "cup"
about = "November"
policy = "rules.toml"
[format]
name = "round-robin"
games = 2
[openings]
file = "openings.txt"
[submissions]
closes = 2099-03-31T18:00:00Z
[[agents]]
path = "house-instant"
name = "listed"
"""


def test_next_contest_takes_file_agents_tokens_and_key(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "last").mkdir()
    (tmp_path / "last" / "contest.toml").write_text(LAST)
    (tmp_path / "last" / "openings.txt").write_text("h8\n")
    judge("policies", "gomocup-fastgame", "--copy", "last/rules.toml")
    judge("contest", "key", "last/organiser.key")
    last = load_plan(tmp_path / "last")
    directory = intake_directory(last)
    with TemporaryDirectory() as staging, closing(directory.register()) as register:
        agent = stage_agent("house-python", Path(staging))
        AgentStore(directory.agents).put(agent.program)
        program = {"program": agent.digest, "executables": []}
        described = json.dumps({"manifest": agent.manifest.model_dump(mode="json"), **program})
        for name, refusal in (("good", ""), ("poor", "it is slow")):
            upload = directory.files.put(name.encode())
            number = register.receive(Upload("ada", name, "a.zip", upload, 4), None, "w").id
            register.step(number, UploadStep("checked", not refusal, "16 checks", 1.0, 1))
            report = directory.files.put(b"a report")
            register.finish(number, 1, ProcessingResult(refusal, name, agent.digest, described, None, report))
        register.approve(number, "organiser", "looks well")
    with closing(Tokens(last.store_url, "cup")) as tokens:
        token, act = tokens.make("ada", "o"), tokens.make("olga", "o", TokenRole.ORGANISER)
        revoked = tokens.make("eve", "o")
        tokens.revoke("eve", "o")

    made = judge("contest", "init", "next", "--from", "last", "--title", "December", code=0)

    planned = load_plan(tmp_path / "next")
    assert "agents   good, poor; their checks are kept" in made.out
    assert ("next", "December", None) == (planned.name, planned.plan.title, planned.plan.windows.closes)
    assert last.policy == planned.policy
    assert 1 == len(planned.openings())
    key = tmp_path / "next" / "organiser.key"
    assert (tmp_path / "last" / "organiser.key").read_bytes() == key.read_bytes()
    assert 0o600 == stat.S_IMODE(key.stat().st_mode)
    with closing(Tokens(planned.store_url, "next")) as tokens:
        assert ("ada", None, None) == (tokens.author_of(token), tokens.author_of(revoked), tokens.author_of(act))
        assert ["ada", "olga"] == [holder.name for holder in tokens.holders()]
    copied = intake_directory(planned)
    with closing(copied.register()) as register:
        entries = register.entries()
        assert [("good", SubmissionState.PASSED), ("poor", SubmissionState.APPROVED)] == [
            (each.name, each.state) for each in entries
        ]
        assert ["16 checks"] == [step.text for step in register.steps(entries[0])]
    assert b"a report" == copied.files.get(entries[0].report or "")
    with TemporaryDirectory() as staging:
        found = entrants(planned, Path(staging))
    assert [("listed", True), ("good", True), ("poor", False)] == [(each.name, each.is_checked) for each in found]
    again = judge("contest", "init", "next", "--from", "last")
    assert (2, True) == (again.code, "exists: use another name" in again.err)


def test_agents_are_checked_again_if_the_policy_differs(judge: Judge, tmp_path: Path) -> None:
    judge("contest", "init", "last", "--policy", "gomocup-fastgame")
    directory = intake_directory(load_plan(tmp_path / "last"))
    with closing(directory.register()) as register:
        upload = directory.files.put(b"a zip")
        number = register.receive(Upload("ada", "good", "a.zip", upload, 5), None, "w").id
        register.finish(number, 1, ProcessingResult("", "good", "d" * 64, "{}", None, None))

    made = judge("contest", "init", "next", "--from", "last", "--turn-ms", "777")

    assert "again    good: the policy differs" in made.out
    planned = load_plan(tmp_path / "next")
    assert 777 == planned.policy.clock.turn_ms
    with closing(intake_directory(planned).register()) as register:
        assert [SubmissionState.RECEIVED] == [each.state for each in register.submissions()]


CAST: Cast = {"anna": player("anna", 0.9), "bert": player("bert", 0.5)}

LAST_SEASON = Recipe(
    "last-season", CAST, more='change = ["clock.turn_ms=300"]  # fast', options={"name": "last", "drawn": nothing}
)


@pytest.fixture
def last(tmp_path: Path) -> Path:
    with LAST_SEASON.contest(tmp_path / "last") as cup:
        return cup.folder


@pytest.mark.parametrize(("turn_ms", "is_joined"), [("500", False), ("300", True)])
def test_the_next_season_joins_ratings_only_with_the_same_clocks(
    judge: Judge, tmp_path: Path, last: Path, turn_ms: str, is_joined: bool
) -> None:
    made = judge("contest", "init", "next", "--from", "last", "--turn-ms", turn_ms, code=0)

    text = (tmp_path / "next/contest.toml").read_text()
    assert [f"clock.turn_ms={turn_ms}"] == tomllib.loads(text)["change"]
    assert (["../last"] if is_joined else None) == tomllib.loads(text).get("ratings", {}).get("with")
    assert is_joined == ("joined with last" in made.out)
    assert is_joined != ("left out: next/../last has other rules or clocks (clock.turn_ms is 300 and 500)" in made.out)
    assert "ratings" not in judge("contest", "plan", "next").out
    assert "# fast" in text


def test_a_chain_of_seasons_joins_what_can_be_compared(judge: Judge, tmp_path: Path, last: Path) -> None:
    more = 'change = ["clock.turn_ms=300"]\n[ratings]\nwith = ["../last"]\nanchors = { anna = 1500 }'
    with Cup(tmp_path / "second", CAST, name="second", more=more, drawn=nothing) as cup:
        cup.play()
    for name, options in (("third", ()), ("other", ("--match-ms", "9000"))):
        assert 0 == judge("contest", "init", name, "--from", "second", *options).code
    third, other = (tomllib.loads((tmp_path / name / "contest.toml").read_text()) for name in ("third", "other"))
    assert {"with": ["../last", "../second"], "anchors": {"anna": 1500}} == third["ratings"]
    assert {"with", "anchors"}.isdisjoint(other.get("ratings", {}))


def test_an_edited_file_does_not_change_the_comparison(tmp_path: Path, last: Path) -> None:
    more = 'change = ["clock.turn_ms=300"]\n[ratings]\nwith = ["../last"]'
    with Cup(tmp_path / "new", CAST, name="new", more=more, drawn=nothing) as cup:
        cup.play()
        cup.planned.path.write_text(cup.planned.text.replace("turn_ms=300", "turn_ms=2000"))
        edited = load_plan(cup.folder)
        contest, problems = with_joined(read_contest(cup.folder), edited)
        public = Public(tmp_path, make_key(tmp_path / "organiser.key"))
        summary = publish(
            Contest(cup.store, edited), public.directory, public.private, public.key, PageOptions(languages=("en",))
        )

    assert [] == [*problems] == [*summary.warnings]
    assert contest.joined is not None
    assert (public.directory / "joined.json").exists()
