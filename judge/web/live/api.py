"""Standings, games and agents as JSON, as the commands print them with `--json`."""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi import Path as PathPart
from fastapi.responses import Response

from judge.contest_view.documents import (
    Agents,
    GameDetails,
    Games,
    Standings,
    agents_document,
    game_document,
    games_after,
    games_document,
    standings_document,
)
from judge.contest_view.view import ContestView
from judge.store.types import NotFoundError
from judge.web.kit.answers import error_responses
from judge.web.live.app import Shown, Site, answer

MAX_GAMES_PER_ANSWER = 1000
MAX_NUMBER = 1_000_000


router = APIRouter(prefix="/api", tags=["contest"], default_response_class=Response)

KnownTag = Annotated[str, Header(alias="If-None-Match", description="ETags of answers that you have.")]


def _responses(model: Any, *, missing: str = "The contest has not begun.") -> dict[int | str, dict[str, Any]]:
    tag = {"ETag": {"schema": {"type": "string"}, "description": "Changes with the answer."}}
    return {
        200: {"model": model, "headers": tag},
        304: {"description": "You have this answer.", "headers": tag},
        **error_responses(404, 422, 429, 503),
        404: {**error_responses(404)[404], "description": missing},
    }


async def _answered(
    request: Request, site: Site, known: str, make: Callable[[ContestView], object], path: str = ""
) -> Response:
    page = await site.in_turn(request, lambda pages: pages.document(make, path))
    # Weak: the answer may be compressed.
    tag = f'W/"{sha256(page.data).hexdigest()[:32]}"'
    if tag in (each.strip() for each in known.split(",")) or known.strip() == "*":
        return Response(status_code=304, headers={"etag": tag, "cache-control": "no-cache"})
    found = answer(request, page)
    found.headers["etag"] = tag
    return found


@router.get("/standings", responses=_responses(Standings))
async def standings(request: Request, site: Shown, known: KnownTag = "") -> Response:
    """Return the standings, as `judge contest standings --json` prints them."""
    return await _answered(request, site, known, standings_document, "api/standings.json")


@router.get("/games", responses=_responses(Games))
async def games(
    request: Request,
    site: Shown,
    known: KnownTag = "",
    after: Annotated[int, Query(ge=0, le=MAX_NUMBER, description="Games with larger numbers: `next`.")] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_GAMES_PER_ANSWER)] = MAX_GAMES_PER_ANSWER,
) -> Response:
    """Return a part of the schedule with results, whose rows `judge contest status --games --json` also lists."""
    return await _answered(request, site, known, partial(games_document, after=after, limit=limit))


@router.get("/games/{number}", responses=_responses(GameDetails, missing="There is no such game."))
async def game(
    request: Request, site: Shown, number: Annotated[int, PathPart(ge=1, le=MAX_NUMBER)], known: KnownTag = ""
) -> Response:
    """Return a game with its attempts that do not count."""
    return await _answered(request, site, known, partial(_game, number=number))


def _game(view: ContestView, number: int) -> object:
    found = next(games_after(view, number - 1), None)
    if found is None or found.number != number:
        raise NotFoundError(f"there is no game {number}")
    return game_document(view, found)


@router.get("/agents", responses=_responses(Agents))
async def agents(request: Request, site: Shown, known: KnownTag = "") -> Response:
    """Return the agents in order of entry, which `judge contest status --agents --json` also lists."""
    return await _answered(request, site, known, agents_document, "api/agents.json")
