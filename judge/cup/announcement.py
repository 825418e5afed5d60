"""A cup's leagues with digests of their terms, fixed before its start: each league's log begins with its SHA-256."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from judge.base.parsing import FailFastTuple, FrozenModel, canonical_json

ANNOUNCEMENT = "announcement.json"


class AnnouncedLeague(FrozenModel):
    """`terms`: digest of policy, format and openings."""

    name: str
    contest: str
    after: str
    promoted: int
    promotes_new: bool
    medals: bool
    terms: str = Field(pattern=r"^[0-9a-f]{64}$")


class Announcement(FrozenModel):
    """The file announcement.json."""

    format: Literal["judge-cup-announcement-1"] = "judge-cup-announcement-1"
    name: str
    leagues: FailFastTuple[AnnouncedLeague]

    def encoded(self) -> bytes:
        return f"{self.model_dump_json(indent=1)}\n".encode()

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.encoded()).hexdigest()

    def differences(self, other: "Announcement") -> Iterator[str]:
        """Changed leagues."""
        mine, others = ({league.name: league for league in each.leagues} for each in (self, other))
        yield from (f"{name} was removed" for name in mine if name not in others)
        yield from (f"{name} was added" for name in others if name not in mine)
        yield from (f"{name} was changed" for name, league in mine.items() if others.get(name, league) != league)


_TERMS = ("name", "policy", "format", "duel", "failures", "seed", "seeding", "openings", "shuffle", "transform", "box")


def league_terms(document: Mapping[str, Any]) -> str:
    """SHA-256 of a contest's terms that do not depend on agents."""
    terms = {key: document[key] for key in _TERMS}
    if clocks := document.get("clocks"):
        terms["clocks"] = clocks
    known_later = {key: _without_agents(terms["format"].get(key)) for key in ("skip", "seats")}
    terms["format"] = {**terms["format"], **{key: value for key, value in known_later.items() if value is not None}}
    return hashlib.sha256(canonical_json(terms).encode()).hexdigest()


def _without_agents(table: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return None if table is None else {key: value for key, value in table.items() if key != "agents"}
