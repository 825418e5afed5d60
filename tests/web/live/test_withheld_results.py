"""Results that are withheld: nobody else can compute one, and what is revealed later is what the log committed to."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urljoin

import httpx
import pytest

from judge.base.errors import InputError
from judge.broadcast.log import LOG_FILE
from judge.contest.orders.contest_orders import Reveal
from judge.contest.status import status_of
from judge.contest_games import GameState
from judge.journal.state import JournalLine
from judge.publish.verify.export import verify_export
from judge.store.orders import OrganiserOrder
from judge.transparency.checkpoint import read_checkpoint
from judge.transparency.keys import make_key
from judge.transparency.merkle import Tree, read_leaves
from judge.web.live.pages import LivePages
from judge.web.live.static import StaticSite
from tests.broadcast.logs import complete_log, events
from tests.contest.cups import CHANCE
from tests.contest.giving import give
from tests.contests import nothing, steady_clock, submit
from tests.examples import evidence, of_evidence
from tests.publish.cups import ENGLISH, STRONG_TO_WEAK, Cast, Cup, crasher, player
from tests.publish.public import Public
from tests.verify.log_forgeries import rewrite, with_event
from tests.verify.second_opinion import accepted, second_opinion
from tests.web.authors.desk import PATIENCE
from tests.web.live.watching import TLS, Watched, until
from tests.web.service import Answer, ask, service_of

SWISS = 'name = "swiss"\nrounds = 4\ngames = 1'
ROUND_ROBIN = 'name = "round-robin"\ngames = 1'
KNOCKOUT = 'name = "knockout"\ngames = 1'
GROUPS = 'name = "groups"\ngames = 1\ngroups = 2\npromoted = 1'
AT_A_MOMENT = f"[freeze]\nat = 2013-03-02T18:00:00Z\n{PATIENCE}"
FREEZE = f"[freeze]\nlast_rounds = 2\n{PATIENCE}"
WEAK_TO_STRONG: Cast = dict(zip(STRONG_TO_WEAK, reversed([*STRONG_TO_WEAK.values()]), strict=True))

HIDDEN_HASHES = re.compile(r"log/(checkpoint|tile/\d.*)")
NUMBERS = range(1, 13)
TABLES = ("standings", "crosstable", "pairs", "games", "pairings", "disqualified", "withdrawn", "attempts", "journal")
TILES = [f"log/tile/{level}/000.p/{size}" for level in ("entries", "0") for size in range(1, 40)]
KNOWN = (
    *("", "live.html", "feed", "feed?moves=false&since=3", "contest", "health", "openapi.json", "export.tar.gz"),
    *("contest.json", "chance.json", "joined.json", "organiser.pem", "manifest.json", "games.pgn", "data/README.md"),
    *("data/fairness.json", "fairness.html", "events.ndjson", "contest.db", ".well-known/security.txt", "metrics"),
    *(f"data/{table}.{kind}" for table in TABLES for kind in ("csv", "json")),
    *(f"games/{number:05d}.{kind}" for number in NUMBERS for kind in ("html", "png", "json")),
    *(f"records/{number:05d}{end}.json" for number in NUMBERS for end in ("", ".attempt-1")),
    *(f"{folder}/{number:05d}.json" for number in NUMBERS for folder in ("plots", "games")),
    *(f"author/games/{number:05d}{end}" for number in NUMBERS for end in (".html", ".seat-0.json", ".seat-1.stderr")),
    *(f"feed?game={number}" for number in NUMBERS),
    *(f"api/{name}" for name in ("standings", "agents", "games", "games?after=3&limit=2")),
    *(f"api/games/{number}" for number in NUMBERS),
    *("log/checkpoint", "log/tile/entries/000", "log/tile/0/000", "log/tile/1/000"),
    *TILES,
)
"""Paths that a viewer tries besides those of links."""


@dataclass(frozen=True)
class Viewed:
    """What a viewer, who is the author of an agent that does not play, can fetch."""

    answers: Mapping[str, Answer]

    def body(self, path: str) -> bytes:
        status, _, body = self.answers[path]
        assert 200 == status, path
        return body


def collect(folder: Path, *only: str) -> Viewed:
    """Every address of the service that is known or linked, or `only` these."""
    answers: dict[str, Answer] = {}
    with service_of(folder) as (service, console), patch("time.time", lambda: 1.7e9):
        token = console.state.authors.tokens.make("zoe", "Olga")
        waiting = [*only] or [*KNOWN, "author/index.html", "index.html"]
        while waiting:
            path = waiting.pop()
            if path in answers:
                continue
            cookie = f"judge-author={token}" if "author/" in path else ""
            status, answered, body = ask(service, "GET", f"/{path}", cookie)
            answered = {name: value for name, value in answered.items() if name != "x-request-id"}
            answers[path] = status, answered, re.sub(rb"[0-9a-f]{32}(?=\")", b"", body) if "author/" in path else body
            if only:
                continue
            if path == "openapi.json":
                found = json.loads(body)["paths"]
                paths = [each for each in found if "get" in found[each] and each != "/events"]
                waiting += [re.sub(r"\{\w+\}", str(n), each)[1:] for each in paths for n in (*NUMBERS, "anna")]
            if answered.get("content-type", "").startswith("text/html"):
                waiting += [urljoin(path, link) for link in re.findall(r'(?:href|src)="([^"#:]+)', body.decode())]
    return Viewed(answers)


@contextmanager
def frozen_cup(folder: Path, form: str = SWISS, ends: Cast = STRONG_TO_WEAK, more: str = FREEZE) -> Iterator[Cup]:
    """A contest of which all games are played, those of withheld rounds by the programs `ends`, with its event log.

    All that is random is not, except what the programs play: salts too.
    """
    with ExitStack() as stack:
        stack.enter_context(steady_clock())
        stack.enter_context(patch("time.time", lambda: 1.7e9))
        stack.enter_context(patch("secrets.token_hex", lambda n: "0" * 2 * n))
        cup = stack.enter_context(Cup(folder, STRONG_TO_WEAK, form, more, drawn=nothing, submissions={"anna": 1}))
        submit(cup, "anna", "ada")
        while not cup.store.withheld_from(cup.contest.name) and not cup.contest.view().is_over:
            cup.play(1)
            if "at =" in more:
                cup.store.withhold(cup.contest.name)
        cup.cast = ends
        cup.play()
        complete_log(cup)
        yield cup


def reveal(cup: Cup, word: str) -> str:
    return give(cup.contest, OrganiserOrder("Olga", Reveal.action, word, "the ceremony", word * 8)).done


def results(cup: Cup) -> Sequence[str | None]:
    return [game.winner for game in cup.store.results(cup.contest.name)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "more"),
    [
        *((SWISS, FREEZE), (KNOCKOUT, AT_A_MOMENT)),
        *(pytest.param(*each, marks=evidence) for each in ((ROUND_ROBIN, FREEZE), (GROUPS, AT_A_MOMENT))),
    ],
)
def test_viewer_gets_the_same_bytes_whatever_the_withheld_results_are(tmp_path: Path, form: str, more: str) -> None:
    found = []
    for name, ends in (("one", STRONG_TO_WEAK), ("other", WEAK_TO_STRONG)):
        with frozen_cup(tmp_path / name, form, ends, more) as cup:
            if name == "one":
                make_key(cup.folder / "organiser.key")
            else:
                shutil.copy2(tmp_path / "one/organiser.key", cup.folder)
            found.append((results(cup), collect(cup.folder)))
    (played, one), (otherwise, other) = found
    assert len(played) == len(otherwise)
    assert played != otherwise
    assert one.answers.keys() == other.answers.keys()
    for path, (status, headers, body) in one.answers.items():
        if HIDDEN_HASHES.fullmatch(path):
            # Of the leaves, which have salts.
            assert (status, headers, len(body)) == (*other.answers[path][:2], len(other.answers[path][2])), path
        else:
            assert (status, headers, body) == other.answers[path], path
    assert len(set(one.answers)) > 300


@pytest.mark.slow
@pytest.mark.parametrize("form", [SWISS, *of_evidence(ROUND_ROBIN)])
def test_withheld_rounds_are_in_no_public_table_and_in_the_organisers(tmp_path: Path, form: str) -> None:
    with frozen_cup(tmp_path, form) as cup:
        key = make_key(tmp_path / "organiser.key")
        games = cup.store.games(cup.contest.name)
        first = cup.store.withheld_from(cup.contest.name)
        assert first is not None
        viewed = collect(tmp_path)
        public = [game for game in games if game.round < first]
        assert 0 < len(public) < len(games)
        for game in games:
            is_public = game in public
            status = viewed.answers[f"records/{game.number:05d}.json"][0]
            assert status == (200 if is_public else 404)
            assert is_public or viewed.answers[f"author/games/{game.number:05d}.html"][0] == 401
        assert 404 == viewed.answers["chance.json"][0]
        assert not any(CHANCE.encode() in body for _, _, body in viewed.answers.values())
        assert b"withheld until they are revealed" in viewed.body("index.html")
        assert b"withheld until they are revealed" in viewed.body("live.html")
        # The organiser sees all, and exports nothing for publication.
        assert cup.contest.view().is_over
        assert len(cup.contest.view().results) == len(games)
        with pytest.raises(InputError, match="are withheld: reveal them first, with judge contest reveal all"):
            cup.export(tmp_path / "export", key)
        complete = cup.export(tmp_path / "export", key, replace(ENGLISH, withheld=True))
        report = accepted(complete)
        assert any("this export is not for publication" in words for words in report.decisions)
        assert "do not publish them" in (complete.directory / "index.html").read_text()


def test_author_sees_own_withheld_games(tmp_path: Path) -> None:
    with frozen_cup(tmp_path) as cup:
        own_games = [game for game in cup.store.games(cup.contest.name) if "anna" in game.agents]
        with service_of(tmp_path) as (service, console):
            cookie = f"judge-author={console.state.authors.tokens.make('ada', 'Olga')}"
            for game in own_games:
                assert 200 == ask(service, "GET", f"/author/games/{game.number:05d}.html", cookie)[0]
            page = ask(service, "GET", "/author/index.html", cookie)[2].decode()
            assert all(f"games/{game.number:05d}.html" in page for game in own_games)


def test_authors_see_a_withheld_game_of_an_agent_that_entered_in_a_withheld_round(tmp_path: Path) -> None:
    cast = {**STRONG_TO_WEAK, "zoe": player("zoe", 0.5)}
    with Cup(tmp_path, cast, SWISS, FREEZE, drawn=nothing, submissions={"dora": 2}, first=len(STRONG_TO_WEAK)) as cup:
        make_key(tmp_path / "organiser.key")
        submit(cup, "zoe", "eve")
        submit(cup, "dora", "bob")
        while cup.store.withheld_from(cup.contest.name) != 3:
            cup.play(1)
        give(cup.contest, OrganiserOrder("Olga", "enter", "zoe", "the mail server was down"))
        cup.play()
        complete_log(cup)
        games = {
            agent: [g for g in cup.store.games(cup.contest.name) if agent in g.agents] for agent in ("zoe", "dora")
        }
        assert games["zoe"]
        with service_of(tmp_path) as (service, console):
            for author, agent in (("eve", "zoe"), ("bob", "dora")):
                cookie = f"judge-author={console.state.authors.tokens.make(author, 'Olga')}"
                for game in games[agent]:
                    assert 200 == ask(service, "GET", f"/author/games/{game.number:05d}.html", cookie)[0]


def test_events_after_the_last_round_are_revealed_after_the_end(tmp_path: Path) -> None:
    """All rounds are revealed before an agent that crashed too often is disqualified, which is withheld then."""
    cast = {**STRONG_TO_WEAK, "dora": crasher("dora", 0)}
    more = f"[freeze]\nlast_rounds = 1\n[failures]\nlimit = 0.3\nafter = 4\n{PATIENCE}"
    with Cup(tmp_path, cast, ROUND_ROBIN, more, drawn=nothing) as cup:
        store, name = cup.store, cup.contest.name
        while any(game.state is not GameState.DONE for game in store.games(name)) or not store.games(name):
            cup.play(1)
        give(cup.contest, OrganiserOrder("Olga", "pause", "", "a look at the crashes"))
        with pytest.raises(InputError, match="is not over: continue it, or reveal next"):
            reveal(cup, "all")
        reveal(cup, "next")
        give(cup.contest, OrganiserOrder("Olga", "resume", "", "it is right"))
        cup.play()
        cup.contest.refresh()
        assert {"dora"} == cup.contest.view().disqualified.keys()
        reveal(cup, "all")
        accepted(cup.export(tmp_path / "export"))


@pytest.mark.parametrize(
    ("at", "problems"), [("02T20", []), ("05T20", ["the terms do not withhold results from round 2"])]
)
def test_freeze_at_a_moment_is_valid_if_the_clock_is_put_back_by_hours(
    tmp_path: Path, at: str, problems: list[str]
) -> None:
    """The log's lines are of 18:00 on March 2nd."""
    later = AT_A_MOMENT.replace("02T18", at)
    with steady_clock(), Cup(tmp_path, STRONG_TO_WEAK, SWISS, later, drawn=nothing) as cup:
        cup.play(1)
        cup.store.withhold(cup.contest.name)
        cup.play()
        reveal(cup, "all")
        public = cup.export(tmp_path / "export")

    found = verify_export(public.directory, public.public_key).problems
    assert len(problems) == len(found)
    assert all(expected in problem for expected, problem in zip(problems, found, strict=True))


def test_leaf_of_a_withheld_line_cannot_be_guessed(tmp_path: Path) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK, SWISS, FREEZE) as cup:
        cup.play()
        lines = [line for line in cup.store.journal(cup.contest.name) if line.withheld is not None]
        assert len({line.salt for line in lines}) == len(lines) == 10
        assert all(replace(line, salt=None).leaf != line.leaf for line in lines)
        public = [line for line in cup.store.journal(cup.contest.name) if line.withheld is None]
        assert {None} == {line.salt for line in public}
        assert {"round-played", "standings-frozen"} <= {line.event for line in public}


@pytest.mark.slow
def test_decisions_after_the_freeze_are_withheld_with_their_round(tmp_path: Path) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK, ROUND_ROBIN, FREEZE, drawn=nothing) as cup:
        store, name = cup.store, cup.contest.name
        while store.withheld_from(name) is None:
            cup.play(1)
        give(cup.contest, OrganiserOrder("Olga", "disqualify", "dora", "two entries"))
        played = next(game for game in store.games(name) if game.state is GameState.DONE)
        give(cup.contest, OrganiserOrder("Olga", "void", str(played.number), "a power cut"))
        cup.play()
        lines = {line.event: line for line in store.journal(name)}
        assert (4, None) == (lines["disqualified"].withheld, lines["annulled"].withheld)
        make_key(tmp_path / "organiser.key")
        assert b"two entries" not in b"".join(answer[2] for answer in collect(tmp_path).answers.values())
        reveal(cup, "all")
        assert b"two entries" in collect(tmp_path, "data/disqualified.csv").body("data/disqualified.csv")
        accepted(cup.export(tmp_path / "export"))


@pytest.mark.slow
def test_rounds_are_revealed_in_turn_and_fit_the_checkpoints_from_before(tmp_path: Path) -> None:
    with frozen_cup(tmp_path) as cup:
        key = make_key(tmp_path / "organiser.key")
        kept, standings = list[Path](), list[bytes]()
        for word in ("", "next", "all"):
            if word:
                reveal(cup, word)
                complete_log(cup)
            viewed = collect(tmp_path, "data/standings.csv", "log/checkpoint", *TILES)
            standings.append(viewed.body("data/standings.csv"))
            kept.append(tmp_path / f"checkpoint-{len(kept)}")
            kept[-1].write_bytes(viewed.body("log/checkpoint"))
            checkpoint = read_checkpoint(kept[-1].read_bytes(), "it")
            # The leaves that are public are those that the first checkpoint committed to.
            sizes = range(1, checkpoint.size + 1)
            ends = [size for size in sizes if viewed.answers[f"log/tile/entries/000.p/{size}"][0] == 200]
            leaves = read_leaves(lambda path: viewed.body(f"log/{path}"), max(ends))  # noqa: B023 used at once
            stored = cup.store.leaves(cup.contest.name, 0, max(ends))
            assert Tree(leaves).root() == Tree(line.leaf for line in stored).root()
            assert (max(ends) == checkpoint.size) == (word == "all")
            cup.contest.refresh()
            chance = status_of(cup.contest)["chance"]
            assert (CHANCE if word == "all" else None) == chance["secret"]
            assert word == "all" or chance["words"].startswith("secret until all results are public")
        assert 3 == len(set(standings))
        with pytest.raises(InputError, match="no results of spring-cup are withheld"):
            reveal(cup, "4")
        public = cup.export(tmp_path / "export", key)
        accepted(public)
        for path in kept:
            assert [] == list(verify_export(public.directory, public.public_key, path).problems)
            assert [] == second_opinion(public.directory, public.public_key, Path("--since"), path)


def test_reveal_of_rounds_with_open_games_or_unknown_rounds_is_refused(tmp_path: Path) -> None:
    with Cup(tmp_path, STRONG_TO_WEAK, SWISS, FREEZE) as cup:
        cup.play(3)
        with pytest.raises(InputError, match="no results of spring-cup are withheld"):
            reveal(cup, "all")
        cup.play(2)
        with pytest.raises(InputError, match="games up to round 3 have no result yet"):
            reveal(cup, "next")
        cup.play(1)
        with pytest.raises(InputError, match="give next, all, or a number from 3 to 3"):
            reveal(cup, "2")
        with pytest.raises(InputError, match="is not over: continue it, or reveal next"):
            reveal(cup, "all")
        assert "the results of spring-cup up to round 3 are public" == reveal(cup, "3")
        cup.play()
        assert 4 == cup.store.withheld_from(cup.contest.name)
        assert "all results of spring-cup are public" == reveal(cup, "next")


@pytest.mark.slow
def test_pages_as_files_get_the_withheld_leaves_and_games_after_the_reveal(tmp_path: Path) -> None:
    with frozen_cup(tmp_path / "cup") as cup:
        make_key(cup.folder / "organiser.key")
        with closing(LivePages(cup.planned, is_static=True)) as pages:
            site, top = StaticSite(pages, tmp_path / "static"), tmp_path / "static"
            assert not site.write()
            before = read_checkpoint((top / "log/checkpoint").read_bytes(), "it")
            assert [] == [*top.glob("log/tile/entries/**/[0-9]*")]
            assert {"00001", "00004"} < {path.stem for path in top.glob("records/*")} < {f"{n:05}" for n in NUMBERS}
            reveal(cup, "all")
            complete_log(cup)
            until(site.write, "the contest is not over on the pages")
            after = read_checkpoint((top / "log/checkpoint").read_bytes(), "it")
            leaves = read_leaves(lambda path: (top / "log" / path).read_bytes(), after.size)
            assert (after.root, before.root) == (Tree(leaves).root(), Tree(leaves[: before.size]).root())
            assert len(cup.store.results(cup.contest.name)) == len([*top.glob("records/*")])


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0.5, *of_evidence(0.2, 0.8, 0.99)])
def test_event_log_continues_an_interrupted_reveal(tmp_path: Path, lost: float) -> None:
    with frozen_cup(tmp_path) as cup:
        path = tmp_path / LOG_FILE
        before = path.stat().st_size
        reveal(cup, "all")
        complete_log(cup)
        whole, data = events(cup), path.read_bytes()
        path.write_bytes(data[: before + int((len(data) - before) * lost)])
        complete_log(cup)
        assert _without_tables(whole) == _without_tables(events(cup))
        assert "ended" in {event["type"] for event in whole if event["seq"] > before // 1000}


@pytest.mark.slow
def test_stream_of_a_killed_service_has_withheld_games_after_the_reveal_by_the_command(tmp_path: Path) -> None:
    with frozen_cup(tmp_path / "cup") as cup, closing(Watched(cup)) as watched:
        before = watched.get("feed").text
        watched.kill()
        watched.start()
        assert before == watched.get("feed").text
        rounds = {game.number: game.round for game in cup.store.games(cup.contest.name)}
        assert {1, 2} == {rounds[event["game"]] for event in map(json.loads, before.splitlines()) if "game" in event}
        with httpx.stream("GET", f"{watched.url}/events?since=0", timeout=60, verify=TLS) as stream:
            received_events = (json.loads(line[6:]) for line in stream.iter_lines() if line.startswith('data: {"seq"'))
            assert [json.loads(line) for line in before.splitlines()] == list(
                islice(received_events, len(before.splitlines()))
            )
            command = [sys.executable, "-m", "judge.cli", "contest", "reveal", "all", str(cup.folder)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            assert "all results of spring-cup are public" in done.stdout
            watched.recorder.finish()
            after = list(takewhile(lambda event: event["type"] != "withheld", received_events))
        assert {3, 4} == {rounds[event["game"]] for event in after if event["type"] == "ended"}


def _without_tables(found: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    return [{**event, "seq": 0} for event in found if event["type"] != "table"]


Revealed = tuple[Public, Path, int]


@pytest.fixture(scope="module")
def revealed(tmp_path_factory: pytest.TempPathFactory) -> Revealed:
    """An export after the reveal, the checkpoint that a viewer kept before, and the leaf of a withheld result."""
    folder = tmp_path_factory.mktemp("revealed")
    with frozen_cup(folder / "cup") as cup:
        key = make_key(cup.folder / "organiser.key")
        kept = folder / "kept"
        kept.write_bytes(collect(cup.folder, "log/checkpoint").body("log/checkpoint"))
        reveal(cup, "all")
        journal = cup.store.journal(cup.contest.name)
        number = next(line.number for line in journal if line.event == "accepted" and line.salt)
        assert number is not None
        return cup.export(folder, key), kept, number


@pytest.mark.slow
@pytest.mark.parametrize(
    "forge",
    [
        lambda line: replace(line, digest="d" * 64),
        lambda line: replace(line, salt="f" * 32),
        lambda line: with_event(line, replace(line.change, reason="it gave up")),
    ],
    ids=["record", "salt", "reason"],
)
def test_result_that_was_changed_after_the_freeze_is_refused(revealed: Revealed, tmp_path: Path, forge: object) -> None:
    exported, kept, number = revealed
    public = exported.copy_to(tmp_path)
    rewrite(public, lambda lines: lines.__setitem__(number, forge(lines[number])))  # type: ignore[operator]
    sentence = "differ from those of the old checkpoint"
    assert any(sentence in each for each in verify_export(public.directory, public.public_key, kept).problems)
    assert any(
        "it was rewritten" in each
        for each in second_opinion(public.directory, public.public_key, Path("--since"), kept)
    )


@pytest.mark.slow
@pytest.mark.parametrize("is_public", [True, False])
def test_wrong_or_missing_salt_of_a_line_is_refused(revealed: Revealed, tmp_path: Path, *, is_public: bool) -> None:
    exported, _, number = revealed
    public = exported.copy_to(tmp_path)

    def change(lines: list[JournalLine]) -> None:
        place = 0 if is_public else number
        lines[place] = replace(lines[place], salt="f" * 32 if is_public else None)

    rewrite(public, change)
    sentence = "was not withheld, but has a salt" if is_public else "without a salt"
    assert any(sentence in each for each in verify_export(public.directory, public.public_key).problems)
    assert any("without a salt" in each for each in second_opinion(public.directory, public.public_key))
