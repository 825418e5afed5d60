"""Chance is committed to, revealed at the end, and foretold by nothing that anybody has before it."""

import hashlib
import itertools
import json
import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import InputError
from judge.contest.contest import Contest
from judge.contest_games import GameState
from judge.publish.export.export import PageOptions
from judge.publish.verify.export import verify_export
from judge.record.seeds import derived
from judge.record.spec import GameSpec
from judge.store.contests import Store
from judge.tournament.snapshot import commitment_to, contest_key, game_seed
from tests.contest.cups import CHANCE
from tests.contests import Recipe, nothing
from tests.publish.cups import STRONG_TO_WEAK, Cup, player
from tests.publish.public import Public, change, sign_again

NAME = "spring-cup"
KEY = contest_key(CHANCE, NAME)


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Public, list[GameSpec]]:
    """An export of a cup of which six games are played, the second one twice; and the games that are still to come."""
    folder = tmp_path_factory.mktemp("unfinished")
    recipe = Recipe("unfinished", happens=lambda cup: cup.play(7, void=[2]), pages=PageOptions())
    cup, public = recipe.contest(folder / "cup"), recipe.export(folder)
    to_come = [
        cup.contest.job(replace(game, attempt=game.attempt + 1)).spec()
        for game in cup.store.games(NAME)
        if game.state is GameState.PENDING
    ]
    cup.close()
    assert 14 == len(to_come)
    return public, to_come


def everything(public: Public) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for folder in (public.directory, public.private)
        for path in folder.rglob("*")
        if path.is_file()
    }


def by_the_old_way(seed: int, game: tuple[int, int, int]) -> int:
    """A seed as it was before: of the name, which is public, and a small number."""
    text = f"{NAME} {seed} {game[0]} {game[1]} {game[2]}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def test_an_unfinished_export_has_no_secret_and_no_seed_to_come(unfinished: tuple[Public, list[GameSpec]]) -> None:
    public, to_come = unfinished
    hidden = {CHANCE, KEY, *(str(spec.seed) for spec in to_come)}
    assert 16 == len(hidden)
    for name, data in everything(public).items():
        assert not [key for key in hidden if key.encode() in data or bytes.fromhex(key) in data], name
    assert not (public.directory / "chance.json").exists()
    document = json.loads((public.directory / "contest.json").read_text())
    assert (None, commitment_to(CHANCE)) == (document["seed"], document["commitment"])
    for page in ("index.html", "verify.html"):
        assert commitment_to(CHANCE) in (public.directory / page).read_text()


def test_nothing_in_an_export_foretells_the_games_to_come(unfinished: tuple[Public, list[GameSpec]]) -> None:
    """The name with small numbers, as once sufficed, and every digest, id and seed that was published, as any key."""
    public, to_come = unfinished
    seeds = {spec.seed for spec in to_come}
    places = list(itertools.product(range(1, 6), range(1, 4), range(2)))
    guessed: set[object] = {by_the_old_way(number, place) for number in range(816) for place in places}
    words = {
        word.decode()
        for data in everything(public).values()
        for word in re.findall(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", data)
    }
    assert {commitment_to(CHANCE)} < words
    for word in words:
        guessed.add(word)
        for key in (word, contest_key(word, NAME), derived(word, "game")):
            guessed |= {game_seed(key, *place, attempt) for place in places for attempt in (1, 2)}
    assert not guessed & seeds


def test_seed_fixed_by_the_organiser_is_reported_as_predictable(tmp_path: Path) -> None:
    """The control: the same attack finds the next game, so the pages say that it can."""
    with Cup(tmp_path / "cup", STRONG_TO_WEAK, seed=815, drawn=nothing) as cup:
        cup.play(6)
        public = cup.export(tmp_path)
        game = cup.store.issue(NAME, "here")
        assert game
        due = cup.contest.job(game).spec().seed

    place = (game.round, game.table, game.leg)
    assert due in {by_the_old_way(number, place) for number in range(816)}
    words = "fixed by the organiser: seed 815; all random choices are predictable"
    assert words in (public.directory / "index.html").read_text()
    assert "could predict all random draws" in (public.directory / "verify.html").read_text()
    assert not (public.directory / "chance.json").exists()
    assert [] == problems(public)


def test_id_does_not_reveal_the_opening(unfinished: tuple[Public, list[GameSpec]]) -> None:
    """Ids of games to come are public, and there are few openings: none of them makes the id."""
    public, to_come = unfinished
    games = json.loads((public.directory / "data/games.json").read_text())
    ids = {game["id"] for game in games}
    document = json.loads((public.directory / "contest.json").read_text())
    openings = [tuple(map(tuple, opening)) for opening in document["openings"]]
    assert 3 == len(openings)
    for spec in to_come:
        for opening in openings:
            tried = spec.model_copy(update={"opening": opening, "seed": commitment_to(CHANCE), "scheduled_as": None})
            assert tried.id not in ids


def problems(public: Public) -> Sequence[str]:
    return list(verify_export(public.directory, public.public_key).problems)


def test_a_lot_of_a_swiss_that_fell_the_other_way_is_found_when_chance_is_revealed(tmp_path: Path) -> None:
    """Who sits first in the first round. Until the end either may; then one of the two is a lie."""
    with Cup(tmp_path / "cup", STRONG_TO_WEAK, 'name = "swiss"\nrounds = 1\ngames = 1', drawn=nothing) as cup:
        cup.play(1)
        early = cup.export(tmp_path / "early")
        assert [] == problems(early)
        cup.play()
        public = cup.export(tmp_path)
    assert [] == problems(public)

    def turn(rows: Any) -> None:
        for row in rows:
            if row["second"] is not None:
                row |= {"first": row["second"], "second": row["first"]}

    change(public.directory / "data/pairings.json", turn)
    sign_again(public)
    assert "round 1 does not follow from the entries and the earlier results" in problems(public)


def test_a_contest_that_is_over_must_reveal_its_chance(copy: Public) -> None:
    """tests/verify/forgeries.py has other secrets, seeds and openings."""
    (copy.directory / "chance.json").unlink()

    sign_again(copy)
    assert "the contest is over, but chance.json does not reveal the secret seed" in problems(copy)


@pytest.mark.parametrize(
    ("secret", "error"),
    [(None, "the store lacks the secret of spring-cup"), ("6d" * 32, "the secret does not match")],
    ids=["lost", "another"],
)
def test_store_without_its_secret_is_refused(tmp_path: Path, secret: str | None, error: str) -> None:
    cup = Cup(tmp_path / "cup", {"anna": player("anna", 0.9), "bert": player("bert", 0.9)})
    document, entries = cup.store.document(NAME), cup.store.entries(NAME)
    with closing(Store(f"sqlite:///{tmp_path}/other.db")) as store:
        store.create(NAME, document, entries, secret)
        with pytest.raises(InputError, match=error):
            Contest(store, cup.planned)
    cup.close()
