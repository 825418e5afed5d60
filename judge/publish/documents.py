"""The documents of a published contest: its terms, its revealed secret, and the contests that it joins."""

import hashlib
from collections.abc import Callable, Mapping, Sequence

from judge.contest_view.export import CHANCE, DOCUMENT, Revealed
from judge.contest_view.joined import JOINED
from judge.contest_view.view import ContestView


def documents(contest: ContestView) -> Mapping[str, Callable[[], bytes]]:
    """The contents by file. The secret is missing until the contest is over."""
    snapshot = contest.snapshot
    found: dict[str, Callable[[], bytes]] = {DOCUMENT: lambda: _terms(contest)}
    if contest.secret is not None and snapshot.commitment is not None:
        revealed = Revealed(contest=snapshot.name, commitment=snapshot.commitment, secret=contest.secret)
        found[CHANCE] = lambda: f"{revealed.model_dump_json(indent=1)}\n".encode()
    if contest.joined is not None:
        found[JOINED] = contest.joined.encoded
    return found


def term_digests(contest: ContestView) -> Sequence[tuple[str, str]]:
    """Names and digests of what is fixed before the first game."""
    snapshot = contest.snapshot
    return [
        (DOCUMENT, hashlib.sha256(_terms(contest)).hexdigest()),
        ("contest.toml", snapshot.plan_sha256),
        *((f"image {name}", image.content or image.id) for name, image in snapshot.images.items()),
        *((f"agent {entry.name}", entry.seat.digest) for entry in snapshot.entries),
    ]


def _terms(contest: ContestView) -> bytes:
    return f"{contest.document}\n".encode()
