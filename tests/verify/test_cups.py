"""Exported cups, unchanged or forged and signed again, against the verifier, verify.mjs and the independent reading."""

import hashlib
import json
import random
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.base.errors import InputError
from judge.base.toml_files import toml_value
from judge.cli.contest.verify import verify as verify_command
from judge.contest.plan import load_plan
from judge.contest_view.export import CHANCE
from judge.cup.export import export_cup
from judge.cup.plan import AnnouncedLeague, Announcement, load_cup
from judge.cup.results import CupDocument, ExportedLeague
from judge.cup.verify import verify_cup
from judge.publish.export.export import PageOptions
from judge.publish.manifest import write_manifest
from judge.store.contests import Store
from judge.transparency.keys import make_key
from tests.contests import nothing, steady_clock
from tests.examples import evidence, of_lanes
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.publish.public import Public, change, sign_again
from tests.site.browser import Browser
from tests.verify import independent_reading
from tests.verify.by_node import problems as problems_by_node
from tests.verify.by_node import verify
from tests.verify.forger import FORMS, Forger, hold
from tests.verify.forgeries import FORGERIES
from tests.verify.second_opinion import second_opinion
from tests.verify.test_export_copies import change_line_ends
from tests.verify.test_second_verifier import said_by

OPENINGS = "h8i9\nh8h9\ng8j9\n"
"""Those of the contests of `tests.publish.cups`."""

LEAGUE = """
[[leagues]]
name = "{}"
policy = "gomocup-standard"
openings = {{ file = "openings.txt", shuffle = true }}
format = {{ {} }}
{}
"""

CUP = (
    'name = "spring"\n'
    + LEAGUE.format("below", 'name = "round-robin", games = 2', "medals = false")
    + LEAGUE.format("cup", 'name = "round-robin", games = 2', 'after = "below"\npromoted = 1')
    + LEAGUE.format("swiss", 'name = "swiss", rounds = 2', "")
    + LEAGUE.format("open", 'name = "round-robin", games = 4', "")
    + LEAGUE.format("later", 'name = "round-robin"', 'after = "open"\npromoted = 2')
)

FORM = FORMS["round-robin"]

BEFORE = datetime(2013, 3, 1, 18, tzinfo=UTC)
"""The league below is played before the one above, which begins at the usual time of a forger's clock."""


def write_cup(folder: Path, text: str) -> str:
    """Write cup.toml; return the line of its leagues' files that names it."""
    (folder / "openings.txt").write_text(OPENINGS)
    (folder / "cup.toml").write_text(text)
    return f"cup = {toml_value(load_cup(folder).reference.model_dump())}"


def play(folder: Path, league: str, names: str, games: int = 1000, version: str = "") -> None:
    cast = {name: STRONG_TO_WEAK[name] for name in names.split()}
    cup = load_cup(folder)
    form = "\n".join(f"{key} = {toml_value(value)}" for key, value in cup.documents[league]["format"].items())
    more, name = f"cup = {toml_value(cup.reference.model_dump())}", f"spring-{league}"
    with Cup(folder / league, cast, form, more, name=name, version=version, drawn=nothing) as contest:
        contest.play(games)


OTHER_FILES = [("anna", "cup"), ("dora", "below")]
"""Agents of the league "swiss" that play with other files in an earlier league."""


def play_cup(folder: Path) -> Ed25519PrivateKey:
    """A league and one above it; one with its own key and other agents' files; one that is played; one not begun."""
    key = make_key(folder / "organiser.key")
    line = write_cup(folder, CUP)
    with steady_clock(BEFORE):
        play(folder, "below", "bert dora")
        play(folder, "swiss", "anna dora -carl", version="2")
        play(folder, "open", "anna bert", 2)
    hold(folder, key, replace(FORM, more=line))
    make_key(folder / "swiss/organiser.key")
    shutil.rmtree(folder / "public")
    shutil.rmtree(folder / "private")
    return key


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Public:
    folder = tmp_path_factory.mktemp("cup")
    public = Public(folder, play_cup(folder))
    publish_cup(folder, public)
    return public


def add_head(folder: Path) -> None:
    """Begin the files of the leagues as judge does."""
    head = "# judge writes this file from cup.toml. Change that file instead.\n"
    for path in folder.glob("*/contest.toml"):
        if not (text := path.read_text()).startswith(head):
            path.write_text(head + text)


def publish_cup(folder: Path, public: Public) -> None:
    """Export the leagues of a cup.toml, which were played in its folder."""
    add_head(folder)
    export_cup(load_cup(folder), public.directory, public.private, public.key, PageOptions(languages=("en",)))


class CupForger:
    """An organiser with a copy of an exported cup."""

    def __init__(self, public: Public, folder: Path) -> None:
        self.public = public.copy_to(folder)
        self.folder = folder
        self.directory = self.public.directory

    def in_file(self, name: str, how: Callable[[Any], object]) -> None:
        """Change a document, and write it as judge does."""
        path = self.directory / name
        document = json.loads(path.read_bytes())
        how(document)
        path.write_text(f"{json.dumps(document, indent=1, ensure_ascii=False)}\n")

    def in_cup(self, how: Callable[[Any], object]) -> None:
        self.in_file("cup.json", how)

    def in_league(self, name: str, how: Callable[[Any], object]) -> None:
        self.in_cup(lambda cup: how(next(league for league in cup["leagues"] if league["name"] == name)))

    def forge_league(self, kind: str) -> None:
        """Forge the league "cup" as an ordinary contest, and name its new manifest in cup.json."""
        self.change_league(FORGERIES[kind].how, FORGERIES[kind].end, random.Random(kind))

    def change_league(
        self, how: Callable[[Forger], object], end: Callable[[Forger], object], chance: random.Random
    ) -> None:
        one = self.folder / "one"
        (one / "copy").mkdir(parents=True)
        league = self.directory / "cup"
        shutil.copytree(league, one / "public")
        forger = Forger(Public(one, self.public.key), FORM, one / "copy", chance)
        how(forger)
        end(forger)
        shutil.rmtree(league)
        shutil.copytree(forger.directory, league)
        self.in_league("cup", lambda each: each.update(self.names(league)))

    def names(self, league: Path) -> dict[str, str]:
        verified = verify_cup(self.directory, self.public.public_key).leagues.get(league.name)
        return {} if verified is None else {"manifest": verified.manifest.digest}

    def sign(self) -> None:
        cup = json.loads((self.directory / "cup.json").read_bytes())
        parts = {league["name"] for league in cup["leagues"] if league["contest"]}
        write_manifest(self.directory, cup["name"], self.public.key, parts)

    def found(self) -> tuple[Sequence[str], Sequence[str]]:
        """The problems of `judge contest verify`, and of verify.mjs with the independent reading."""
        try:
            by_judge = verify_cup(self.directory, self.public.public_key).problems
        except InputError as error:
            by_judge = [str(error)]
        return by_judge, second_opinion(self.directory, self.public.public_key)


@pytest.fixture
def forger(published: Public, tmp_path: Path) -> CupForger:
    return CupForger(published, tmp_path)


def test_published_cup_is_accepted_by_both_verifiers(published: Public) -> None:
    report = verify_cup(published.directory, published.public_key)
    code, lines = verify(published.directory, published.public_key)

    different = [f"{agent} takes part with different files in {first} and swiss" for agent, first in OTHER_FILES]
    assert ([], different) == (report.problems, report.decisions)
    assert {"below": True, "cup": True, "swiss": True, "open": False} == {
        name: league.is_over for name, league in report.leagues.items()
    }
    assert ["later"] == report.waiting
    assert (0, "ok: spring") == (code, lines[-1])
    assert [] == independent_reading.problems(published.directory)
    assert "not checked: places, medals and who advances: judge contest verify computes them" in lines
    assert hashlib.sha256((published.directory / "announcement.json").read_bytes()).hexdigest() == report.announcement
    assert 4 == sum("of the log against its checkpoint, the journal and the records" in line for line in lines)
    assert not any("who signed" in line for line in lines)
    assert f"manifest {report.manifest.digest}" in lines
    assert f"key      {report.manifest.fingerprint}" in lines
    assert (published.directory / "verify.mjs").read_bytes() == (published.directory / "cup/verify.mjs").read_bytes()


def test_the_page_of_a_league_verifies_the_whole_cup_in_a_browser(browser: Browser, published: Public) -> None:
    page = published.directory / "cup/verify.html"

    assert verify(published.directory, published.public_key)[1] == said_by(browser, published, page)


def test_old_checkpoint_is_for_one_league(published: Public, tmp_path: Path) -> None:
    (problem,) = problems_by_node(
        published.directory, published.public_key, Path("--since"), published.directory / "cup/log/checkpoint"
    )
    assert "checkpoints and witnesses are of one league: choose its folder" in problem


def give_medals(cup: Any, league: int, sign: int = 1) -> None:
    for place, agent in cup["leagues"][league]["places"][:3]:
        medals = next(each for each in cup["medals"] if each["agent"] == agent)
        medals[["gold", "silver", "bronze"][place - 1]] += sign
    cup["medals"] = [each for each in cup["medals"] if each["gold"] + each["silver"] + each["bronze"]]


def give_medals_twice(cup: Any) -> None:
    cup["leagues"].insert(2, cup["leagues"][1])
    for medals in cup["medals"]:
        for _, agent in cup["leagues"][1]["places"][:1]:
            medals["gold"] += medals["agent"] == agent


def end_early(cup: Any) -> None:
    cup["leagues"][3]["is_over"] = True
    give_medals(cup, 3)


def take_away_medals(cup: Any) -> None:
    cup["leagues"][2]["medals"] = False
    give_medals(cup, 2, -1)


def exchange_leagues(forger: CupForger) -> None:
    (forger.directory / "cup").rename(forger.directory / "between")
    (forger.directory / "swiss").rename(forger.directory / "cup")
    (forger.directory / "between").rename(forger.directory / "swiss")

    def exchange(cup: Any) -> None:
        one, other = cup["leagues"][1:3]
        for key in ("contest", "manifest", "key", "is_over", "places"):
            one[key], other[key] = other[key], one[key]

    forger.in_cup(exchange)


def rename_manifest(forger: CupForger) -> None:
    forger.in_cup(lambda cup: cup.update(name="autumn"))
    write_manifest(forger.directory, "spring", forger.public.key, {"below", "cup", "swiss", "open"})


def leave_out_a_league(forger: CupForger) -> None:
    """The league that is played, and with it the one that has not begun."""
    forger.in_cup(lambda cup: cup.update(leagues=cup["leagues"][:3]))
    shutil.rmtree(forger.directory / "open")


def leave_out_an_announced_league(forger: CupForger) -> None:
    leave_out_a_league(forger)
    announce(lambda cup: cup.update(leagues=cup["leagues"][:3]))(forger)


def announce_in_another_form(forger: CupForger) -> None:
    path = forger.directory / "announcement.json"
    path.write_text(json.dumps(json.loads(path.read_bytes())))


def add_a_file(forger: CupForger) -> None:
    (forger.directory / "later").mkdir()
    (forger.directory / "later/extra.html").touch()


CupForgery = Callable[[CupForger], object]


def in_cup(how: Callable[[Any], object]) -> CupForgery:
    return lambda forger: forger.in_cup(how)


def in_league(name: str, how: Callable[[Any], object]) -> CupForgery:
    return lambda forger: forger.in_league(name, how)


def remove(name: str) -> CupForgery:
    return lambda forger: (forger.directory / name).unlink()


def announce(how: Callable[[Any], object]) -> CupForgery:
    return lambda forger: forger.in_file("announcement.json", how)


def named(**forgeries: CupForgery) -> list[CupForgery]:
    for name, how in forgeries.items():
        how.__name__ = name
    return list(forgeries.values())


SIGNED = named(
    add_medal=in_cup(lambda cup: cup["medals"][0].update(gold=9)),
    swap_places=in_league("cup", lambda league: league["places"].reverse()),
    give_medals_twice=in_cup(give_medals_twice),
    end_early=in_cup(end_early),
    reopen=in_league("cup", lambda league: league.update(is_over=False)),
    exchange_leagues=exchange_leagues,
    promote_more=in_league("cup", lambda league: league.update(promoted=2)),
    promote_from_nothing=in_league("cup", lambda league: league.update(after="later")),
    hide_a_record=remove("open/records/00001.json"),
    # Of the same contest, signed by the same key, but not the one that cup.json names.
    take_another_export=in_league("cup", lambda league: league.update(manifest="0" * 64)),
    name_another_key=in_league("cup", lambda league: league.update(key="0" * 64)),
    add_a_key=in_cup(lambda cup: cup.update(winner="bert")),
    write_a_number=in_league("cup", lambda league: league.update(medals=1)),
)
CUP_FORGERIES: Sequence[tuple[CupForgery, bool]] = [
    *((how, True) for how in SIGNED),
    *((how, False) for how in (SIGNED[0], rename_manifest, add_a_file)),
]
"""Forgeries of a cup, and whether the organiser signs the result."""

ANNOUNCEMENT_FORGERIES = named(
    leave_out_a_league=leave_out_a_league,
    leave_out_an_announced_league=leave_out_an_announced_league,
    change_a_waiting_league=in_league("later", lambda league: league.update(promoted=1)),
    announce_other_terms=announce(lambda cup: cup["leagues"][1].update(terms="0" * 64)),
    announce_another_contest=announce(lambda cup: cup["leagues"][3].update(contest="spring-open2")),
    take_away_medals=in_cup(take_away_medals),
    remove_announcement=remove("announcement.json"),
    announce_in_another_form=announce_in_another_form,
)


def add_an_unnamed_league(forger: CupForger) -> None:
    """A complete export in the folder of the league that cup.json shows as not begun."""
    shutil.copytree(forger.directory / "open", forger.directory / "later")


def add_tables_at_the_top(forger: CupForger) -> None:
    for name in ("data", "records"):
        shutil.copytree(forger.directory / "open" / name, forger.directory / name)


def add_a_contest_at_the_top(forger: CupForger) -> None:
    shutil.copyfile(forger.directory / "open/contest.json", forger.directory / "contest.json")


UNEXPECTED: dict[CupForgery, str] = {
    add_an_unnamed_league: "later/log/checkpoint",
    add_tables_at_the_top: "data/standings.json",
    add_a_contest_at_the_top: "contest.json",
    add_a_file: "later/extra.html",
}


@pytest.mark.parametrize("how", UNEXPECTED)
def test_signed_file_of_no_league_is_found_by_both_verifiers(how: CupForgery, forger: CupForger) -> None:
    how(forger)
    forger.sign()

    by_judge = verify_cup(forger.directory, forger.public.public_key).problems
    by_node = problems_by_node(forger.directory, forger.public.public_key)
    assert all(f"{UNEXPECTED[how]}: unexpected file" in problems for problems in (by_judge, by_node))
    assert independent_reading.problems(forger.directory) or how is add_a_file  # it reads no pages


@pytest.mark.parametrize("leagues", [0, 1])
def test_forged_contest_with_the_document_of_a_cup_is_found(
    leagues: int, logged_copy: Public, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its standings are forged, and cup.json names no league, or one that has not begun."""
    change(logged_copy.directory / "data/standings.json", lambda rows: rows[0].update(points=9.0))
    terms = {"after": "", "promoted": 0, "promotes_new": False, "medals": True, "terms": "0" * 64}
    announced = AnnouncedLeague.model_validate({"name": "spring", "contest": "spring-cup", **terms})
    documents: dict[str, CupDocument | Announcement] = {
        "cup": CupDocument(name="spring-cup", leagues=(ExportedLeague(name="spring"),) * leagues),
        "announcement": Announcement(name="spring-cup", leagues=(announced,) * leagues),
    }
    for name, document in documents.items():
        (logged_copy.directory / f"{name}.json").write_bytes(document.encoded())
    sign_again(logged_copy)

    with pytest.raises(SystemExit, match="1"):
        verify_command(logged_copy.directory, logged_copy.public_key)
    assert "cup.json: no league has begun" in capsys.readouterr().out
    assert "contest.json: unexpected file" in verify_cup(logged_copy.directory, logged_copy.public_key).problems
    (problem,) = problems_by_node(logged_copy.directory, logged_copy.public_key)
    assert "cup.json: no league has begun" in problem
    assert independent_reading.problems(logged_copy.directory)


OF_FULL_LANE = {"add_medal", "exchange_leagues", "hide_a_record", "rename_manifest", "leave_out_a_league"}
"""tests/corpus gives each forgery to `judge contest verify`."""


def of_lane(how: CupForgery, *more: object) -> ParameterSet:
    return pytest.param(how, *more, marks=[evidence] * (how.__name__ not in OF_FULL_LANE))


@pytest.mark.parametrize(
    ("how", "is_signed", "words"),
    [
        *(of_lane(*each, "") for each in CUP_FORGERIES),
        *(of_lane(each, True, "announce") for each in ANNOUNCEMENT_FORGERIES),
    ],
)
def test_forged_cup_is_found_by_both_verifiers(how: CupForgery, is_signed: bool, words: str, forger: CupForger) -> None:
    how(forger)
    if is_signed:
        forger.sign()

    for found in forger.found():
        assert any(words in problem for problem in found), found


def test_cup_signed_by_another_key_is_found_by_both_verifiers(forger: CupForger, tmp_path: Path) -> None:
    write_manifest(forger.directory, "spring", make_key(tmp_path / "other.key"), {"below", "cup", "swiss", "open"})

    for found in forger.found():
        assert ["manifest.sig: not signed by the"] == [problem.partition(" key")[0] for problem in found]


OF_LEAGUE = [
    *("a byte of a file, not signed", "a checkpoint of another root", "a value of the standings"),
    *("another seed, fitted", "a start in a pause, fitted", "a record of no game"),
]


@pytest.mark.parametrize("kind", of_lanes(OF_LEAGUE, OF_LEAGUE[2:4]))
def test_forged_league_of_a_cup_is_found_by_both_verifiers(kind: str, forger: CupForger) -> None:
    """Each league is read as a contest; tests/verify/test_forgeries.py tries all kinds on contests."""
    forger.forge_league(kind)
    forger.sign()

    by_judge, by_second = forger.found()
    assert any("cup: " in problem or "cup/" in problem for problem in by_judge), by_judge
    assert by_second


@pytest.mark.parametrize("key", ["duel", "box"])
def test_league_without_a_key_of_its_terms_is_found(key: str, forger: CupForger) -> None:
    """The key has a default, and no draw of an open league can be computed: the league alone has no problem."""

    def without_key(league: Forger) -> None:
        league.in_document(lambda document: document.pop(key))
        last = next(line.game for line in reversed(league.lines) if line.event == "accepted")
        league.lines = [line for line in league.lines if line.game != last]
        row = next(row for row in league.rows("games") if row["id"] == last)
        at = row["number"] - 1
        league.in_table("games", lambda rows: rows[at].update(state="pending", attempt=None, record=None))
        for name in (row["record"], CHANCE):
            (league.directory / name).unlink()

    forger.change_league(without_key, Forger.fit, random.Random(1))
    forger.in_league("cup", lambda league: league.update(is_over=False))
    forger.sign()

    by_judge, by_second = forger.found()
    assert f"cup: contest.json: the key '{key}' is missing" in by_judge
    assert by_second


def test_agent_disqualified_after_its_promotion_is_noted(tmp_path: Path) -> None:
    """The next one of the league below did not advance, and that is right."""
    public = Public(tmp_path, make_key(tmp_path / "organiser.key"))
    write_cup(tmp_path, "[[leagues]]".join(CUP.split("[[leagues]]")[:3]))
    play(tmp_path, "below", "bert dora")
    play(tmp_path, "cup", "anna bert")
    with closing(Store(load_plan(tmp_path / "below").store_url)) as store:
        store.disqualify("spring-below", "bert", "it broke a rule")
    publish_cup(tmp_path, public)

    note = "cup was locked in before the last change of below"
    report = verify_cup(public.directory, public.public_key)
    assert ([], [note]) == (report.problems, report.decisions)
    assert [] == second_opinion(public.directory, public.public_key)


def test_agent_withdrawn_from_a_swiss_after_its_promotion_is_noted(tmp_path: Path) -> None:
    """Its results count, and only the agents that advance changed."""
    public = Public(tmp_path, make_key(tmp_path / "organiser.key"))
    below = LEAGUE.format("below", 'name = "swiss", rounds = 2', "medals = false")
    above = LEAGUE.format("cup", 'name = "round-robin", games = 2', 'after = "below"\npromoted = 1')
    write_cup(tmp_path, f'name = "spring"\n{below}{above}')
    play(tmp_path, "below", "bert dora -carl")
    play(tmp_path, "cup", "anna bert")
    with closing(Store(load_plan(tmp_path / "below").store_url)) as store:
        store.withdraw("spring-below", "bert", "no time", is_annulled=False)
    publish_cup(tmp_path, public)

    note = "cup was locked in before the last change of below"
    report = verify_cup(public.directory, public.public_key)
    assert ([], [note]) == (report.problems, report.decisions)


def test_clone_of_a_cup_with_changed_line_ends_is_verified_after_undoing_them(
    published: Public, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = published.copy_to(tmp_path)
    change_line_ends(copy, ".json", ".html", ".csv", ".pem")
    (copy.directory / "cup/.DS_Store").write_bytes(b"x")

    verify_command(copy.directory, copy.public_key)
    by_judge = capsys.readouterr().out.splitlines()
    code, by_node = verify(copy.directory, copy.public_key)
    assert 0 == code
    for lines in (by_judge, by_node):
        assert lines[0].rpartition("line ends were changed by git or a copy tool")[1]
        assert "ok after undoing changed line ends: spring" in lines[-1]
        assert any("not part of the export: " in line and ".DS_Store" in line for line in lines)
