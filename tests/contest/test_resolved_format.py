"""Formats with what earlier contests and files give them: ratings that leave out pairs, and seats of the first league.

Both verifiers accept the contests.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.contest.begin import begin
from judge.contest.contest import open_store
from judge.contest.plan import load_plan
from judge.contest.resolved_format import read_ratings_csv, resolved_format
from judge.contest.runner import Scheduler
from judge.contest_games import Pairing
from judge.host.house_agents import build_house_agents
from judge.publish.verify.export import verify_export
from judge.store.contests import Store
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.base import skip_of
from judge.tournament.formats.groups import Groups, Leagues, Seats
from judge.tournament.formats.round_robin import DoubleRoundRobin, RoundRobin
from judge.tournament.skipped_pairs import Skip, SourcedRating
from tests.contest.cups import better_seed, cup, enter, play, snapshot
from tests.contests import Recipe, nothing
from tests.examples import evidence
from tests.publish.cups import STRONG_TO_WEAK
from tests.publish.public import Public
from tests.verify.log_forgeries import in_document
from tests.verify.second_opinion import accepted, second_opinion

NAMES = ("A", "B", "C")
APART = "\n".join(f"agents.{name} = {{ rating = {900 * at + 1}, reason = 'x' }}" for at, name in enumerate(NAMES))


def by_hand(**ratings: float) -> Skip:
    return Skip(agents={agent[1:]: SourcedRating(rating=elo, reason="by hand") for agent, elo in ratings.items()})


@pytest.mark.parametrize(
    "text",
    [
        "agent,rating\nA,1900\nB,0\n",
        "\ufeffagent,rating\r\n\r\nB,0\r\nA,1900.0\r\n",
        'note,rating,agent\n"x, y",1900,"A"\n,0,B',
    ],
)
def test_csv_is_read_by_its_columns(text: str, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes(text.encode())
    found = read_ratings_csv(path, NAMES)
    assert {"A": 1900, "B": 0, "C": 0} == {agent: rated.rating for agent, rated in found.items()}
    assert "not in ratings.csv" == found["C"].reason


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1: no column 'agent'"),
        (b"agent,elo\nA,1", "line 1: no column 'rating'"),
        (b"agent,agent,rating\nA,A,1", "line 1: no column 'agent'"),
        (b"agent|rating\nA|1", "line 1: no column 'agent'"),
        (b"agent,rating\nA,1\n\nX,1", "line 4: agent 'X' does not take part"),
        ("agent,rating\nÄ,1".encode("latin-1"), "line 2: agent .* does not take part"),
        (b"agent,rating\nA,1\nA,1", "line 3: agent A is already in line 2"),
        (b"agent,rating\nA,-1", "line 2: rating '-1': write a number from 0"),
        (b"agent,rating\nA,nan", "line 2: rating 'nan'"),
        (b"agent,rating\nA,1e3", "line 2: rating '1e3'"),
        (b"agent,rating\nA,", "line 2: rating ''"),
        ("agent,rating\nA,\u0661".encode(), "line 2: rating"),
        (b"agent,rating\nA,100001", "line 2: rating '100001'"),
        (b"agent,rating\nA", "line 2: 1 values; the first line has 2 columns"),
        (b'agent,rating\n"A,1', "line 2: not CSV"),
        (b"agent,rating\n" + b"A,1\n" * 300_000, "at most 50000 lines"),
    ],
)
def test_unusable_csv_is_refused_with_its_line(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as error:
        read_ratings_csv(path, NAMES)
    assert str(path) in str(error.value)


def resolved(folder: Path, form: str, agents: Mapping[str, str]) -> AnyFormat:
    """The format of a contest file with this text of its table. `agents` have their digests."""
    folder.mkdir(exist_ok=True)
    path = folder / "contest.toml"
    path.write_text(f'name = "this-year"\npolicy = "gomocup-standard"\n[format]\n{form}\n')
    return resolved_format(load_plan(path), list(agents.items()))


def rated(folder: Path, skip: str, agents: Mapping[str, str] | None = None) -> Skip:
    named = dict.fromkeys(NAMES, "") if agents is None else agents
    found = skip_of(resolved(folder, f'name = "round-robin"\n[format.skip]\n{skip}', named))
    assert found is not None
    return found


def test_ratings_by_hand_replace_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("agent,rating\nA,1900\nB,1600\n")
    skip = rated(tmp_path, 'ratings = "list.csv"\nagents = { B = { rating = 1500, reason = "slower machine" } }')
    assert {
        "A": SourcedRating(rating=1900, reason="list.csv, line 2"),
        "B": SourcedRating(rating=1500, reason="slower machine"),
        "C": SourcedRating(rating=0, reason="not in list.csv"),
    } == skip.agents


@pytest.mark.parametrize(
    ("skip", "message"),
    [
        ("rating_difference = 400", r"contest\.toml, line 5: format\.skip: no ratings"),
        ('rating_difference = 0\nratings = "a.csv"', "greater than 0"),
        ('above = "x"\nagents = {}', "no ratings"),
        ("agents = { A = { rating = 1, reason = '' } }", "reason"),
        ("agents = { A = { rating = -1, reason = 'x' } }", "rating"),
        ("agents = { X = { rating = 1, reason = 'x' } }", r"format\.skip\.agents: 'X' does not take part"),
        ('ratings = "none.csv"', "none.csv is missing; name an earlier contest"),
        ('ratings = "."\nabove = "x"', "this contest; name an earlier one"),
        ('ratings = "list.csv"\nabove = "x"', "above needs an earlier contest in ratings"),
        (APART, "leaves out all pairs"),
    ],
)
def test_unusable_option_is_refused(skip: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("agent,rating\n")
    with pytest.raises(InputError, match=message):
        rated(tmp_path, skip)


@pytest.mark.docker
def test_journal_has_the_ratings_set_by_hand(tmp_path: Path) -> None:
    agents = "".join(f'[[agents]]\npath = "house-instant"\nname = "{name}"\n' for name in NAMES)
    (tmp_path / "list.csv").write_text("agent,rating\nA,1900\n")
    (tmp_path / "contest.toml").write_text(
        'name = "cup"\npolicy = "gomocup-standard"\n[format]\nname = "round-robin"\n[format.skip]\n'
        f'ratings = "list.csv"\nagents.B = {{ rating = 1500, reason = "slower machine" }}\n{agents}'
    )
    build_house_agents()
    planned = load_plan(tmp_path)
    with closing(open_store(planned)) as store:
        contest = begin(store, planned, {})
        assert ["A-C", "B-C"] == sorted(met(store.pairings("cup")))
        assert [
            "pairs with ratings that differ by 400 or more do not meet; ratings of list.csv; B 1500: slower machine"
        ] == [line.text for line in store.journal("cup") if line.event == "ratings"]
        skip = skip_of(contest.snapshot.format)
        assert skip is not None
        assert (1900, 1500, 0) == tuple(map(skip.rating_of, NAMES))


def earlier(folder: Path, chosen: AnyFormat, count: int = 4, games: int = 1000) -> Path:
    """A contest with a store, whose agents are named by their seeds."""
    folder.mkdir()
    (folder / "contest.toml").write_text('name = "cup"\npolicy = "gomocup-standard"\n[format]\nname = "round-robin"\n')
    with closing(Store(load_plan(folder).store_url)) as store:
        play(enter(store, snapshot(chosen, count, name="cup"), folder), better_seed, games)
    return folder


def test_earlier_contest_rates_unchanged_agents(tmp_path: Path) -> None:
    """Agent 2 has other files now, and 9 is new."""
    earlier(tmp_path / "last", RoundRobin(games=2))
    agents = {"1": "1" * 64, "2": "f" * 64, "3": "3" * 64, "9": "9" * 64}
    skip = rated(tmp_path / "this", 'ratings = "../last"\nrating_difference = 5000', agents)
    assert skip.agents["1"].rating > 1600 > skip.agents["3"].rating > 0
    assert skip.agents["1"].reason.startswith("Elo ")
    assert skip.agents["1"].reason.endswith(" in cup")
    assert [(0, "updated since cup"), (0, "new: not ranked in cup")] == [
        (skip.agents[agent].rating, skip.agents[agent].reason) for agent in ("2", "9")
    ]


def test_leagues_of_an_earlier_contest_are_joined_by_the_last_promoted(tmp_path: Path) -> None:
    earlier(tmp_path / "last", Leagues(games=2, sizes=(3,), promoted=1), 6)
    agents = {str(seed): str(seed) * 64 for seed in range(1, 7)}
    skip = rated(tmp_path / "this", 'ratings = "../last"\nrating_difference = 5000', agents)
    assert skip.agents["3"].reason.endswith(" as 4")
    assert "in League 2 of cup" in skip.agents["5"].reason
    ratings = [skip.agents[agent].rating for agent in agents]
    assert sorted(ratings, reverse=True) == ratings


def test_contest_of_the_league_above_shifts_relegated_agents(tmp_path: Path) -> None:
    earlier(tmp_path / "lower", RoundRobin(games=2))
    earlier(tmp_path / "upper", RoundRobin(games=2), 6)
    agents = {str(seed): str(seed) * 64 for seed in range(1, 7)}
    lines = 'ratings = "../lower"\nabove = "../upper"\nrating_difference = 5000'
    skip = rated(tmp_path / "this", lines, agents)
    assert all("as 4" in skip.agents[agent].reason for agent in agents)


def test_earlier_contest_that_is_not_over_is_refused(tmp_path: Path) -> None:
    earlier(tmp_path / "last", RoundRobin(games=2), games=3)
    with pytest.raises(InputError, match="last: some games are not finished"):
        rated(tmp_path / "this", 'ratings = "../last"', {"1": "", "2": ""})
    (tmp_path / "last/contest.db").unlink()
    with pytest.raises(InputError, match="has not begun"):
        rated(tmp_path / "this", 'ratings = "../last"', {"1": "", "2": ""})


def met(pairings: list[Pairing]) -> Iterator[str]:
    for pairing in pairings:
        assert pairing.second is not None
        yield pairing.group + "-".join(sorted((pairing.first, pairing.second)))


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (RoundRobin(skip=by_hand(_1=2000, _4=1600, _3=1601)), ["1-2", "1-3", "2-3", "2-4", "3-4"]),
        (DoubleRoundRobin(skip=by_hand(_1=2000, _2=1000, _3=1000)), ["1-4", "2-3", "2-4", "3-4"] * 2),
        (Groups(skip=by_hand(_1=2000, _4=1000, _2=1700), promoted=1), ["B2-3", "final1-2"]),
        (Leagues(sizes=(2,), promoted=1, skip=by_hand(_1=2000, _3=1000)), ["11-2", "12-3", "23-4"]),
        (
            Leagues(sizes=(2,), promoted=1, skip=by_hand(_1=2000, _3=1000).model_copy(update={"groups": ("2",)})),
            ["11-2", "11-3", "12-3", "23-4"],
        ),
    ],
)
def test_formats_play_all_other_pairs(chosen: AnyFormat, expected: list[str]) -> None:
    with cup(chosen, 4) as contest:
        play(contest, better_seed)
        assert contest.view().is_over
        assert sorted(expected) == sorted(met(contest.store.pairings(contest.name)))


def seats_of(folder: Path, lines: str, names: str) -> tuple[str, ...]:
    form = f'name = "leagues"\nsizes = [3]\npromoted = 1\n[format.seats]\n{lines}'
    found = resolved(folder, form, dict.fromkeys(names.split(), ""))
    assert isinstance(found, Leagues)
    assert found.seats is not None
    return found.seats.agents


def test_seats_are_those_of_last_years_first_league(tmp_path: Path) -> None:
    """Agents 1, 2, 3 were seated and 4 rose; the last two of them lose their seats."""
    earlier(tmp_path / "last", Leagues(games=2, sizes=(3,), promoted=1), 6)
    lines = 'previous = "../last"'
    assert ("1", "2", "3") == seats_of(tmp_path / "this", lines, "1 2 3 4 5 6")
    assert ("1", "2") == seats_of(tmp_path / "this", f"{lines}\ndown = 2", "1 2 3 4 5 6")
    assert ("1new", "3") == seats_of(tmp_path / "this", f"{lines}\nsuccessors = {{ 1 = '1new' }}", "1new 3 4 5 6")
    assert ("9", "1", "2", "3") == seats_of(tmp_path / "this", f"{lines}\nagents = ['9']", "1 2 3 4 5 6 9")
    # Those of a round robin are its order.
    earlier(tmp_path / "plain", RoundRobin(games=2), 4)
    assert ("1", "2", "3") == seats_of(tmp_path / "this", 'previous = "../plain"', "4 3 2 1 x")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("down = 1", "no seats: name last year's contest"),
        ('agents = ["1", "1"]', "an agent twice"),
        ('agents = ["1"]\nsuccessors = { a = "1" }', "successors need previous"),
        ('agents = ["x"]', r"format\.seats\.agents: 'x' does not take part"),
        ('previous = "../last"\nsuccessors = { 1 = "x" }', r"format\.seats\.successors: 'x' does not take part"),
        ('previous = "../last"\nsuccessors = { y = "2" }', "'y' was not in the first league"),
        ('previous = "../last"\ndown = 9', "no agent of this contest has a seat"),
        ('agents = ["1", "2", "3"]', "no second league"),
        ('previous = "../none"', r"format\.seats: .*none is missing; name an earlier contest"),
    ],
)
def test_unusable_seats_are_refused(lines: str, message: str, tmp_path: Path) -> None:
    earlier(tmp_path / "last", RoundRobin(games=2), 3)
    with pytest.raises(InputError, match=message):
        seats_of(tmp_path / "this", lines, "1 2 3")


def test_promoted_agents_stay_if_a_better_old_one_is_disqualified_later() -> None:
    """Without agent 4 also 5 would be among the first new ones, but the first league is drawn."""
    chosen = Leagues(sizes=(2,), promoted=1, promotes_new=True, skip=by_hand(_1=1500, _2=1500, _4=1500))
    with cup(chosen, 6) as contest:
        play(contest, better_seed, 12)
        assert Scheduler(contest).schedule_next()
        contest.store.disqualify(contest.name, "4", "it broke a rule")
        play(contest, better_seed)
        pairings = contest.store.pairings(contest.name)
        assert {"1", "2", "3"} == {a for pairing in pairings if pairing.group == "1" for a in pairing.agents}


def test_seated_agents_play_the_first_league() -> None:
    chosen = Leagues(sizes=(2,), promoted=1, seats=Seats(agents=("5", "6")))
    with cup(chosen, 6) as contest:
        play(contest, better_seed)
        groups = {pairing.group: set[str]() for pairing in contest.store.pairings(contest.name)}
        for pairing in contest.store.pairings(contest.name):
            groups[pairing.group] |= pairing.agents
        assert {"2": set("1234"), "1": set("156")} == groups


INLINE = """\
name = "{form}"
{options}
games = 2
[format.skip]
rating_difference = 400
agents.anna = {{ rating = 2000, reason = "last year" }}
agents."-carl" = {{ rating = 1600, reason = "last year" }}
agents.dora = {{ rating = 1650, reason = "last year" }}
"""


def exported(folder: Path, form: str = "round-robin", options: str = "") -> Public:
    agents = {name: STRONG_TO_WEAK[name] for name in ("anna", "bert", "-carl", "dora")}
    recipe = Recipe("skipped", agents, INLINE.format(form=form, options=options), options={"drawn": nothing})
    return recipe.export(folder)


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("round-robin", "cycles = 2"),
        pytest.param("double-round-robin", "", marks=evidence),
        ("groups", "promoted = 1"),
        pytest.param("leagues", "sizes = [2]", marks=evidence),
        ("leagues", 'sizes = [1]\npromoted = 1\npromotes_new = true\nseats.agents = ["anna", "dora"]'),
    ],
)
def test_both_verifiers_accept_the_pairs_that_are_played(form: str, options: str, tmp_path: Path) -> None:
    accepted(exported(tmp_path, form, options))


@pytest.mark.parametrize("rating", [1601, 1000], ids=["a pair is missing", "a pair is left over"])
def test_both_verifiers_find_another_rating(rating: int, tmp_path: Path) -> None:
    """With 1601 anna meets -carl; with dora at 1000 she does not meet anna."""
    public = exported(tmp_path)

    def forge(document: Any) -> None:
        document["format"]["skip"]["agents"]["-carl" if rating == 1601 else "dora"]["rating"] = rating

    in_document(public, forge)
    assert any("does not follow" in each for each in verify_export(public.directory, public.public_key).problems)
    assert any('pairings of group ""' in each for each in second_opinion(public.directory, public.public_key))


def test_pages_name_the_pairs_that_are_left_out(tmp_path: Path) -> None:
    public = exported(tmp_path)
    cross = (public.directory / "crosstable.html").read_text()
    assert 2 == cross.count('aria-label="left out"')
    assert "ratings differ by 400 or more" in (public.directory / "index.html").read_text()
    pages = [path.read_text() for path in sorted((public.directory / "agents").glob("*.html"))]
    assert ["2000 (last year)" in page and "Does not meet" in page for page in pages] == [True, False, False, False]
