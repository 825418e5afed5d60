"""The export of a contest: one directory that anybody may have, and one for each author with what only he may see.

Both are written beside their place and moved there when they are whole, so a directory of that name is a whole export.
"""

import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.contest.contest import Contest
from judge.contest.snapshot import Frozen
from judge.errors import HostError, InputError
from judge.publish.data import attempt_path, tables
from judge.publish.games import GameDone, GameJob, publish_game, read_stored, write_private, write_public
from judge.publish.keys import fingerprint, public_pem
from judge.publish.load import CHANCE, DOCUMENT, Revealed
from judge.publish.manifest import write_manifest
from judge.publish.match_page import Frame
from judge.publish.publication import Publication, PublishedGame
from judge.publish.site import Proof, agent_stem, site
from judge.publish.source import publication_of, source_of
from judge.workers import in_parallel

PGN = "games.pgn"
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: the manifest's SHA-256 and the key's, and how much."""

    digest: str
    fingerprint: str
    games: int
    open_games: int


def publish(contest: Contest, directory: Path, private: Path, key: Ed25519PrivateKey) -> Exported:
    """Write the public part of `contest` to `directory` and its authors' parts below `private`; neither may exist.

    InputError where one does, or a record is not what it was; HostError where the disk does not take it.
    """
    inside, outside = private.resolve(), directory.resolve()
    if inside.is_relative_to(outside) or outside.is_relative_to(inside):
        raise InputError(f"{private}: what is private may not lie in what is public, nor around it")
    for place in (directory, private):
        if place.exists() and not _is_empty(place):
            raise InputError(f"{place}: exists; an export is never written over, name another one")
    partial, partial_private = _partial(directory), _partial(private)
    try:
        exported = _write(contest, partial, partial_private, key)
        for made, place in ((partial_private, private), (partial, directory)):
            made.replace(place)
    except OSError as error:
        raise HostError(f"{error.filename or directory}: {error.strerror}: the export is not written") from None
    finally:
        for made in (partial, partial_private):
            shutil.rmtree(made, ignore_errors=True)
    return exported


def _is_empty(place: Path) -> bool:
    return place.is_dir() and not any(place.iterdir())


def _partial(place: Path) -> Path:
    """Where a directory is written before it is whole; what a killed export left there goes."""
    partial = place.absolute().with_name(f".{place.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    return partial


def _write(contest: Contest, target: Path, private: Path, key: Ed25519PrivateKey) -> Exported:
    for folder in ("data", "records", "games", "agents", "rounds"):
        (target / folder).mkdir(parents=True)
    private.mkdir(mode=0o700, parents=True)
    source = source_of(contest)
    publication = publication_of(source)
    (target / DOCUMENT).write_bytes(f"{source.document}\n".encode())
    if source.secret is not None and source.frozen.commitment is not None:
        revealed = Revealed(contest=source.frozen.name, commitment=source.frozen.commitment, secret=source.secret)
        (target / CHANCE).write_text(f"{revealed.model_dump_json(indent=1)}\n")
    for name, data in tables(publication).items():
        (target / "data" / name).write_bytes(data)
    done = _write_games(publication, contest.planned.files, target, private)
    (target / PGN).write_bytes(b"".join(game.pgn for game in done))
    about = {name: said for game in done for name, said in game.about.items()}
    proof = Proof(
        public_pem(key.public_key()).decode(),
        fingerprint(key.public_key()),
        _fixed(source.frozen, source.document),
        source.frozen.commitment or "",
        source.secret or "",
    )
    for path, data in site(publication, about, proof):
        (target / path).write_bytes(data)
    return Exported(
        digest=write_manifest(target, publication.name, key),
        fingerprint=fingerprint(key.public_key()),
        games=len(publication.played),
        open_games=len(publication.open_games),
    )


def _write_games(publication: Publication, files: Path, target: Path, private: Path) -> Sequence[GameDone]:
    names = [participant.name for participant in publication.participants]
    for name in names:
        if not _PLAIN.fullmatch(name):
            raise InputError(f"agent {name!r}: no directory can be called so")
    folders = {name: private / name for name in names}
    for game in publication.games:
        for each in game.uncounted:
            file = read_stored(files, each.record)
            write_public(file, target / attempt_path(game, each.attempt))
            seats = (folders[game.first], folders[game.second])
            write_private(file, seats, f"{game.stem}.attempt-{each.attempt}")
    played = publication.played
    stems = ["", *(game.stem for game in played), ""]
    jobs = [
        GameJob(
            files,
            game.record,
            _frame(publication, game, before, after),
            target,
            (folders[game.first], folders[game.second]),
        )
        for game, before, after in zip(played, stems, stems[2:], strict=False)
    ]
    return list(in_parallel(publish_game, jobs))


def _frame(publication: Publication, game: PublishedGame, before: str, after: str) -> Frame:
    first, second = publication.by_name[game.first], publication.by_name[game.second]
    return Frame(
        contest=publication.name,
        number=game.number,
        stem=game.stem,
        match=game.match,
        round=game.round,
        table=game.table,
        pages=(agent_stem(first), agent_stem(second)),
        before=before,
        after=after,
        uncounted=game.uncounted,
    )


def _fixed(frozen: Frozen, document: str) -> Sequence[tuple[str, str]]:
    """Digests of what was fixed before the first game."""
    digests: Mapping[str, str] = {
        "contest.json": hashlib.sha256(f"{document}\n".encode()).hexdigest(),
        "contest.toml": frozen.plan_sha256,
        **{f"image {name}": image.content or image.id for name, image in frozen.images.items()},
        **{f"agent {entry.name}": entry.seat.digest for entry in frozen.entries},
    }
    return list(digests.items())
