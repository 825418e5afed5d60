"""Writes the export of a contest: a public directory, and a private one for each author.

Directories are renamed at the end, so they are complete or missing.
"""

import functools
import re
import shutil
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.base.durable_files import new_directories, sha256_of
from judge.base.errors import HostError, InputError
from judge.base.progress import Tracker, untracked
from judge.base.text import sentence
from judge.base.worker_processes import in_parallel
from judge.contest.contest import Contest, open_store
from judge.contest.file_names import EXPORTS
from judge.contest.plan import load_plan
from judge.contest_games import GameConditions
from judge.contest_view.view import ContestView
from judge.formats.search_figures import EvaluatedGame
from judge.publish.before_export import with_joined
from judge.publish.manifest import MANIFEST, write_manifest
from judge.publish.pages import PageEntry
from judge.publish.tables import certificate_files, documents, result_tables, term_digests
from judge.record.spec import public_part
from judge.site.game_files import PublishedFiles, publish_game, read_stored, write_private
from judge.site.game_page import GamePageContext
from judge.site.pages import PagePlace
from judge.site.site import Proof, pages_of_records, pages_of_results
from judge.translations.language import CODES, languages
from judge.transparency.keys import KEY_FILE, fingerprint, load_key, public_pem
from judge.transparency.log import WITNESSED, ContestLog, witnessed_files

PGN = "games.pgn"
MAX_GAMES_WITH_BOARDS = 10_000
"""Small boards of a larger contest would fill the memory."""

_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """The manifest's SHA-256, the key's fingerprint, and numbers of games with and without a result.

    `warnings`: omissions.
    """

    digest: str
    fingerprint: str
    played: int
    unfinished: int
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Options of the pages.

    With the site's future `address`, such as `https://example.org/cup/`, each game has a preview picture, which needs
    Pillow. `languages` are codes; the first's pages are at the top.
    """

    address: str = ""
    languages: Sequence[str] = CODES
    archive: str = ""
    """Address of its tar archive."""
    above: str = ""
    """Name of the cup with its pages in the folder above, to which pages link."""
    added: Sequence[PageEntry] = ()
    """Pages of other packages."""
    withheld: bool = False
    """Whether results that are not revealed may be exported, which is then not for publication."""


def publish(
    contest: Contest,
    directory: Path,
    private: Path,
    key: Ed25519PrivateKey,
    options: PageOptions = PageOptions(),
    track: Tracker = untracked,
) -> ExportSummary:
    """Write the public part of `contest` to `directory` and the authors' parts below `private`; both must be new.

    Raises InputError if one exists, a record was changed or results are withheld, HostError if writing fails.
    """
    if not options.withheld:
        refuse_withheld(contest)
    with new_export(directory, private) as (partial, partial_private):
        return _write(contest, partial, partial_private, key, options, track)


def write_export(plan: str, number: str) -> str:
    """Write the export with this number to a contest's folder, unless it is there; return a description."""
    planned = load_plan(Path(plan))
    target = planned.folder / EXPORTS / number
    public, private = target / "public", target / "private"
    warnings: Sequence[str] = ()
    if not public.exists():
        # Without the public part the export is incomplete.
        try:
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
        except OSError as error:
            raise HostError(f"{error.filename}: {error.strerror}: the export is not written") from None
        with closing(open_store(planned)) as store:
            contest = Contest(store, planned)
            key = load_key(planned.folder / KEY_FILE)
            warnings = publish(contest, public, private, key).warnings
    digest = sha256_of(public / MANIFEST)
    place = f"{EXPORTS}/{number}"
    words = sentence(f"{place}/public is for everybody, {place}/private for the authors; manifest {digest}")
    return "; ".join([words, *warnings])


def refuse_withheld(contest: Contest) -> None:
    """Raises InputError if results are withheld."""
    if (first := contest.store.withheld_from(contest.name)) is not None:
        raise InputError(
            f"the results of {contest.name} from round {first} on are withheld: reveal them first, with "
            f"judge contest reveal all {contest.planned.path}; --withheld exports them for yourself"
        )


def new_export(directory: Path, private: Path) -> AbstractContextManager[Sequence[Path]]:
    """Where to write the public and the private part, as `new_directories`.

    Raises InputError if the directories contain each other.
    """
    inside, outside = private.resolve(), directory.resolve()
    if inside.is_relative_to(outside) or outside.is_relative_to(inside):
        raise InputError(f"{private}: the private directory must be outside the public one, and must not contain it")
    return new_directories((directory, private), "an export", "the export is not written")


def _write(
    contest: Contest, target: Path, private: Path, key: Ed25519PrivateKey, options: PageOptions, track: Tracker
) -> ExportSummary:
    spoken = languages(options.languages)
    for folder in ("data", "records"):
        (target / folder).mkdir(parents=True)
    for language in spoken:
        for folder in ("games", "agents", "pairs", "rounds"):
            (target / PagePlace(f"{folder}/x", language, spoken).file).parent.mkdir(parents=True)
    private.mkdir(mode=0o700, parents=True)
    witnessed = witnessed_files(contest.planned.folder)  # before the log, which must begin with what they have signed
    published, warnings = with_joined(contest.read(), contest.planned)
    added = [(page.path, page.title) for page in options.added]
    published = replace(published, above=options.above, added_pages=added)
    for name, write in documents(published).items():
        (target / name).write_bytes(write())
    conditions: dict[int, GameConditions] = {}
    evaluated: dict[int, EvaluatedGame | None] = {}
    boards: dict[int, str] = {}
    about: dict[str, Mapping[str, str]] = {}
    listed: dict[str, tuple[str, int]] = {}
    tables = ((f"data/{name}", data) for name, data in result_tables(published))
    of_results = _write_files(target, chain(tables, pages_of_results(published, spoken)))
    with (target / PGN).open("wb") as pgn:
        contexts = _contexts(published, options)
        written = _write_games(published, contest.planned.files, target, private, contexts, of_results)
        written = track(written, len(contexts), "writing games")
        for game, context in zip(written, contexts, strict=True):
            pgn.write(game.pgn)
            about |= game.about
            conditions[context.game.number] = game.conditions
            evaluated[context.game.number] = game.evaluated
            if len(contexts) <= MAX_GAMES_WITH_BOARDS:
                boards[context.game.number] = game.board
            listed |= game.listed
    deque(of_results, maxlen=0)
    published = replace(
        published,
        games=[replace(game, conditions=conditions.get(game.number)) for game in published.games],
        evaluated=evaluated,
        boards=boards,
    )
    for name, data in certificate_files(published).items():
        (target / "data" / name).write_bytes(data)
    log = ContestLog.of(published.name, published.journal)
    signers = [name.removeprefix(WITNESSED) for name in witnessed]
    for name, data in (*log.files(key), *witnessed.items()):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(data)
    public_key = key.public_key()
    key_pem, digests = public_pem(public_key).decode(), term_digests(published)
    proof = Proof(key_pem, fingerprint(public_key), digests, log.size > 0, signers, options.archive)
    added_pages = ((page.path, page.render(published)) for page in options.added)
    deque(_write_files(target, chain(pages_of_records(published, about, proof, spoken), added_pages)), maxlen=0)
    digest = write_manifest(target, published.name, key, known=listed)
    return ExportSummary(
        digest=digest,
        fingerprint=proof.fingerprint,
        played=len(published.played),
        unfinished=len(published.unfinished),
        warnings=[f"ratings are not joined with former contests: {why}" for why in warnings],
    )


def _write_files(target: Path, files: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    for path, data in files:
        (target / path).parent.mkdir(exist_ok=True)
        (target / path).write_bytes(data)
        yield path


def _write_games(
    contest: ContestView,
    files: Path,
    target: Path,
    private: Path,
    contexts: Iterable[GamePageContext],
    between: Iterable[object],
) -> Iterator[PublishedFiles]:
    for agent in contest.by_name:
        if not _PLAIN.fullmatch(agent):
            raise InputError(f"agent {agent!r}: this name is not valid for a directory")
    for game in contest.games:
        for attempt in game.uncounted:
            if attempt.record is None:
                continue
            file = read_stored(files, attempt.record)
            (target / game.attempt_path(attempt.number)).write_bytes(public_part(file).to_json(as_read=True))
            folders = (private / game.first, private / game.second)
            write_private(file, folders, f"{game.stem}.attempt-{attempt.number}")
    return in_parallel(functools.partial(publish_game, files, target, private), contexts, between)


def _contexts(contest: ContestView, options: PageOptions) -> Sequence[GamePageContext]:
    stems = ["", *(game.stem for game in contest.played), ""]
    chosen = functools.partial(replace, address=options.address, languages=options.languages, above=options.above)
    neighbours = zip(contest.played, stems, stems[2:], strict=False)
    return [chosen(GamePageContext.of(contest, game, before, after)) for game, before, after in neighbours]
