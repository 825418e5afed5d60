"""Standings, games and agents as JSON: the documents of the commands, bounded, cached, and as the schema says."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
from pydantic import TypeAdapter

from judge.contest_view.documents import Agents, GameDetails, Games, Standings
from tests.broadcast.logs import PAIR
from tests.corpus.commands import printed
from tests.publish.cups import STRONG_TO_WEAK
from tests.web.live.watching import Watched, watched

MODELS = {"/api/standings": Standings, "/api/games": Games, "/api/games/{number}": GameDetails, "/api/agents": Agents}


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """Six games, of which two are over, after an attempt that is void."""
    folder = tmp_path_factory.mktemp("api")
    cast = {name: STRONG_TO_WEAK[name] for name in ("anna", "bert", "-carl")}
    clocks = 'change = ["clock.control=60"]\n[clocks]\nbert = "9/40:20"\n'
    with watched(folder, cast, games=2, more=clocks) as found:
        found.cup.play(3, void=[1])
        yield found


def shown(contest: Watched, *words: str) -> bytes:
    return printed("contest", *words, str(contest.cup.folder), "--json").encode()


def document(contest: Watched, path: str) -> Any:
    response = contest.get(path)
    assert (200, "application/json") == (response.status_code, response.headers["content-type"])
    return response.json()


def test_standings_games_and_agents_are_those_of_the_commands(contest: Watched) -> None:
    assert shown(contest, "standings") == contest.get("api/standings").content
    status = json.loads(shown(contest, "status", "--games", "--agents"))

    assert {"contest": "spring-cup", "games": status["list"], "next": None} == document(contest, "api/games")
    assert {"contest": "spring-cup", "agents": status["agents"]} == document(contest, "api/agents")
    assert ["", "9/40:20", ""] == [agent["clock"] for agent in status["agents"]]
    assert [2, 1] == [game["attempts"] for game in status["list"][:2]]
    (void,) = document(contest, "api/games/1")["uncounted"]
    assert "records/00001.attempt-1.json" == void["record"]
    assert 200 == contest.get(void["record"]).status_code == contest.get(status["list"][0]["record"]).status_code


@pytest.mark.parametrize("limit", [1, 4, 5, 6])
def test_games_come_in_parts(contest: Watched, limit: int) -> None:
    found: list[Any] = []
    after: int | None = 0
    while after is not None:
        part = document(contest, f"api/games?after={after}&limit={limit}")
        assert 0 < len(part["games"]) <= limit
        found, after = found + part["games"], part["next"]

    assert document(contest, "api/games")["games"] == found


@pytest.mark.parametrize("path", MODELS)
def test_an_answer_is_as_its_schema_says_and_has_nothing_else(contest: Watched, path: str) -> None:
    schema = json.loads(contest.get("openapi.json").content)
    reference = schema["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    data = contest.get(path[1:].replace("{number}", "2")).content
    found, adapter = json.loads(data), TypeAdapter[Any](MODELS[path])

    jsonschema_rs.validator_for({**reference, "components": schema["components"]}).validate(found)
    known = json.loads(adapter.dump_json(adapter.validate_json(data)))
    assert found == {key: value for key, value in known.items() if key in found}


@pytest.mark.parametrize("path", ["standings", "games", "games/2", "agents"])
def test_an_answer_that_the_client_has_is_not_sent_again(contest: Watched, path: str) -> None:
    url = f"{contest.url}/api/{path}"
    first = httpx.get(url)
    tag = first.headers["etag"]

    for known in (tag, f'"other", {tag}', "*"):
        again = httpx.get(url, headers={"If-None-Match": known})
        assert (304, b"", tag) == (again.status_code, again.content, again.headers["etag"])
    assert first.content == httpx.get(url, headers={"If-None-Match": '"other"'}).content
    assert "no-cache" == first.headers["cache-control"]


def test_results_change_the_answer(tmp_path: Path) -> None:
    with watched(tmp_path, PAIR, games=2) as contest:
        before = contest.get("api/standings")
        contest.end(*contest.play(3))
        after = contest.get("api/standings")
        while after.headers["etag"] == before.headers["etag"]:
            after = contest.get("api/standings")

        assert shown(contest, "standings") == after.content
        assert 1 == sum(line["done"]["wins"] for line in after.json()["lines"])
