"""The organiser's orders. Each takes effect at most once and is in the journal with its reason."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Literal

from judge.base.errors import InputError
from judge.base.text import sentence
from judge.contest.contest import Contest, find_game, why_frozen
from judge.contest.entries import Entrant, first_author, intake_directory, late_entrants
from judge.contest.folders.kept import share_files
from judge.contest.take_snapshot import entry_of
from judge.contest_games import GameState
from judge.journal.events import (
    AdmissionsFrozen,
    AdmissionsReopened,
    Disqualified,
    Entered,
    NotEntered,
    Paused,
    Resumed,
    SeasonEnded,
    SetAside,
    Stopped,
)
from judge.store.contests import Store
from judge.store.orders import DoneOrder, OrganiserOrder
from judge.store.queries import Reader
from judge.store.types import (
    ENTERS,
    EntryRow,
    NotNowError,
    Submission,
)
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.ladder import Ladder
from judge.tournament.snapshot import read_snapshot, start_rating

if TYPE_CHECKING:
    from judge.store.submissions import Register
    from judge.submissions.service import IntakeDirectory


BY_AUTHOR = sentence("withdrawn by its author")


# --- orders ----------------------------------------------------------------------------------------------------------


def pause(contest: Contest, order: OrganiserOrder) -> DoneOrder:
    """Start no further game. Raises InputError after the end."""
    is_over = contest.is_over()

    def do(store: Store) -> str:
        if is_over:
            raise InputError(sentence(f"{contest.name} is over: there is nothing to pause"))
        store.set_state(contest.name, Paused(order.why))
        if running := store.counts(contest.name)[GameState.RUNNING]:
            return sentence(f"{contest.name} is paused; running games that are being finished: {running}")
        return sentence(f"{contest.name} is paused; no game is running")

    return contest.store.carry_out(contest.name, order, do)


def resume(contest: Contest, order: OrganiserOrder) -> DoneOrder:
    """Resume a contest and replay stopped games. Games set aside before a pause are tried last."""
    aside = _set_aside(contest)

    def do(store: Store) -> str:
        released = store.release(contest.name, order.why, but=aside)
        store.set_state(contest.name, Resumed(order.why))
        if not released:
            return sentence(f"{contest.name} is open")
        return sentence(f"{contest.name} is open, {released} held games are played again")

    return contest.store.carry_out(contest.name, order, do)


def _set_aside(contest: Contest) -> set[str]:
    if contest.store.state(contest.name) != "paused":
        return set()
    aside: set[str] = set()
    for line in contest.store.journal(contest.name):
        match line.change:
            case SetAside(game):
                aside.add(game)
            case Stopped():
                aside.clear()
    return {game.id for game in contest.store.games(contest.name) if game.state is GameState.HELD} & aside


def replay(contest: Contest, order: OrganiserOrder) -> DoneOrder:
    """Replay only the target. Resumes a stopped contest. Raises InputError."""
    game = find_game(contest, order.target)

    def do(store: Store) -> str:
        if not store.release(contest.name, order.why, game.id):
            (found,) = store.listed(contest.name, after=game.number - 1, limit=1)
            raise InputError(
                sentence(
                    f"game {game.number} is {found.state}: only a game stopped after too many voids can be replayed"
                )
            )
        if store.state(contest.name) == Stopped.NAME:
            store.set_state(contest.name, Resumed(order.why))
        return sentence(f"game {game.number}, {game.first} - {game.second}, is played again")

    return contest.store.carry_out(contest.name, order, do)


def void(contest: Contest, order: OrganiserOrder, attempt: int | None = None) -> DoneOrder:
    """Withdraw the target's result and replay it. Raises InputError without a result, or if `attempt` is old."""
    game = find_game(contest, order.target)

    def do(store: Store) -> str:
        state = store.annul(game.id, order.why, attempt)
        number, first, second = game.number, game.first, game.second
        if state is GameState.CANCELLED:
            return sentence(f"game {number}, {first} - {second}: void, not played again: an agent no longer takes part")
        return sentence(f"game {number}, {first} - {second}: void, to be played again")

    return contest.store.carry_out(contest.name, order, do)


def disqualify(contest: Contest, order: OrganiserOrder) -> DoneOrder:
    """Disqualify the target. Raises InputError if the agent is unknown or disqualified."""
    newer = newer_version(contest, order.target)

    def do(store: Store) -> str:
        before = store.counts(contest.name)[GameState.CANCELLED]
        store.disqualify(contest.name, order.target, order.why)
        cancelled = store.counts(contest.name)[GameState.CANCELLED] - before
        if newer:
            return sentence(
                f"{order.target} is disqualified; {cancelled} games of {contest.name} are cancelled; its newer version "
                f"{newer} still takes part"
            )
        return sentence(f"{order.target} is disqualified; {cancelled} games of {contest.name} are cancelled")

    return contest.store.carry_out(contest.name, order, do)


def newer_version(contest: Contest, agent: str) -> str:
    """Its newest version that takes part; may be empty."""
    contest.refresh()
    versions = {entry.parent: entry.name for entry in contest.snapshot.entries if entry.parent}
    newest = agent
    while newest in versions:
        newest = versions[newest]
    return "" if newest == agent or newest in contest.absent() else newest


def withdraw(contest: Contest, order: OrganiserOrder) -> DoneOrder:
    """Withdraw the target after the start. Raises InputError."""
    return _withdraw(contest.store, contest.name, contest.snapshot.format, order)


def _withdraw(store: Store, contest: str, form: AnyFormat, order: OrganiserOrder) -> DoneOrder:
    is_annulled = withdrawal_of(form) == "annuls"

    def do(inner: Store) -> str:
        inner.withdraw(contest, order.target, order.why, is_annulled=is_annulled)
        if is_annulled:
            return sentence(f"{order.target} is withdrawn; its games do not count")
        if not form.has_rounds:
            return _gone(order.target, order.why)
        return sentence(f"{order.target} is withdrawn from the next round on; its games count")

    return store.carry_out(contest, order, do)


def withdraw_agent(directory: "IntakeDirectory", register: "Register", agent: str, author: str) -> None:
    """Withdraw an author's agent, in a ladder also its entry. Raises NotNowError, UnknownSubmissionError."""
    form = _ladder_of(register)
    if form is None:
        register.withdraw_agent(agent, author, BY_AUTHOR)
        return
    with register.change() as inner:
        numbers = inner.withdraw_versions(agent, author, BY_AUTHOR)
        _withdraw_entries(inner, directory.contest, form, author, numbers)


def withdraw_submission(directory: "IntakeDirectory", register: "Register", number: int, author: str) -> Submission:
    """As `withdraw_agent`, for one version."""
    form = _ladder_of(register)
    if form is None:
        return register.withdraw(number, author, BY_AUTHOR, author)
    with register.change() as inner:
        withdrawn = inner.withdraw(number, author, BY_AUTHOR, author)
        _withdraw_entries(inner, directory.contest, form, author, [number])
        return withdrawn


def _ladder_of(register: "Register") -> Ladder | None:
    document = register.document()
    form = None if document is None else read_snapshot(document).format
    return form if isinstance(form, Ladder) else None


def _withdraw_entries(register: "Register", name: str, form: Ladder, author: str, numbers: Sequence[int]) -> None:
    store, own = Store.of(register), register.own_entries(author)
    active = [own[number].name for number in numbers if number in own and own[number].is_active]
    if active and season_is_over(store, name, form):
        raise NotNowError(sentence(f"the season of {name} has ended already"))
    for agent in active:
        _withdraw(store, name, form, OrganiserOrder(author, "withdraw-agent", agent, BY_AUTHOR))


def joins_later(directory: "IntakeDirectory", register: "Register") -> bool:
    """Whether agents that pass after the start join."""
    form = _ladder_of(register)
    if form is None:
        return directory.joins_later
    return not season_is_over(Reader.of(register), directory.contest, form)


def season_is_over(reader: Reader, contest: str, form: Ladder) -> bool:
    """Whether no further game is drawn."""
    has_ended = reader.last_lines(contest, 1, SeasonEnded)
    return bool(has_ended) or sum(reader.counts(contest).values()) >= form.total_games


def enter(contest: Contest, order: OrganiserOrder) -> DoneOrder:
    """Enter the target, which has a passed submission. Raises InputError."""
    contest.refresh()
    found = late_entrants(contest.planned, contest.snapshot.entries)
    if order.target in contest.snapshot.by_name() and order.target not in found:

        def refuse(_: Store) -> str:
            raise InputError(sentence(f"{order.target} takes part already"))

        return contest.store.carry_out(contest.name, order, refuse)
    entrant = late_entrant(contest, order.target, found)
    rank = len(contest.snapshot.entries) + 1
    number = _author_number(contest, entrant)
    entry = entry_of(entrant, rank, contest.planned, None, contest.snapshot.policy, number)
    entry = entry.model_copy(update={"start": start_rating(contest.snapshot.format, entry)})
    text = entry.model_dump_json()
    late = contest.snapshot.with_late([text])
    share_files(contest.store, contest.planned, late)

    def do(store: Store) -> str:
        if len(store.entries(contest.name)) != rank - 1:
            raise InputError(sentence("another agent entered in the meantime: open this page again"))
        if register.within(store).get(entrant.submission or 0).state not in ENTERS:
            raise InputError(sentence(f"{entry.name} was withdrawn in the meantime"))
        _refuse_frozen(why_frozen(store, contest.name))
        why = f"new version of {entry.parent}: {order.why}" if entry.parent else order.why
        store.enter(contest.name, EntryRow(entry.name, rank, text), why)
        former = next((each for each in store.entries(contest.name) if each.name == entry.parent), None)
        if former is not None and former.disqualified is None and former.withdrawn is None:
            store.withdraw(contest.name, entry.parent, sentence(f"{entry.name} replaces it"), is_annulled=False)
        if not contest.snapshot.format.has_rounds:
            return joined_words(entry.name, entry.parent)
        return sentence(f"{entry.name} enters from the next round on, with 0 points for missed rounds")

    with closing(intake_directory(contest.planned).register()) as register:
        return contest.store.carry_out(contest.name, order, do)


def enter_passed(contest: Contest) -> bool:
    """Enter a ladder's passed submissions; the journal has the reasons of refusals. True if a version has to wait."""
    if contest.frozen_admissions is not None:
        return False
    has_to_wait = False
    for agent, entrant in _late_entrants(contest).items():
        try:
            if most := _reached_limit(contest, entrant):
                has_to_wait = True
                raise InputError(sentence(f"its author entered {most} new versions in 24 hours: the newest one waits"))
            _refuse_disqualified(contest, entrant)
            enter(contest, OrganiserOrder("judge", "enter", agent, "its check passed", f"passed-{entrant.submission}"))
        except InputError as error:
            contest.store.log_once(contest.name, NotEntered(agent, str(error)), "judge", f"{agent}: ")
    return has_to_wait


def _reached_limit(contest: Contest, entrant: Entrant) -> int:
    """The limit of new versions, if the author of a new version has reached it; else 0."""
    entries, most = contest.snapshot.by_name(), intake_directory(contest.planned).intake.versions_per_day
    author = entries[entrant.parent].author if entrant.parent else 0
    if not author:
        return 0
    changes = (line.change for line in contest.store.recent_lines(contest.name, Entered, 24))
    recent = (entries.get(change.agent) for change in changes if isinstance(change, Entered))
    entered = sum(each is not None and each.author == author and bool(each.parent) for each in recent)
    return most if most and entered >= most else 0


def _refuse_disqualified(contest: Contest, entrant: Entrant) -> None:
    entries, out = contest.snapshot.by_name(), {each.name: each for each in contest.store.gone_entries(contest.name)}
    if entrant.parent in _disqualified_by_organisers(contest):
        why = out[entrant.parent].disqualified
        raise InputError(
            sentence(f"{entrant.parent} is disqualified: {why}; only an organiser can enter a new version of it")
        )
    for name, each in out.items():
        if each.disqualified is not None and entries[name].seat.digest == entrant.agent.digest:
            raise InputError(
                sentence(f"it has the files of {name}, which is disqualified; only an organiser can enter it")
            )


def _disqualified_by_organisers(contest: Contest) -> set[str]:
    lines = contest.store.last_lines(contest.name, len(contest.snapshot.entries), Disqualified)
    changes = (line.change for line in lines if line.who is not None)
    return {change.agent for change in changes if isinstance(change, Disqualified)}


def end_season(contest: Contest, order: OrganiserOrder) -> DoneOrder:
    """End a ladder's season. Raises InputError."""
    left = games_left(contest)

    def do(store: Store) -> str:
        _refuse_ended(contest, store, left)
        store.remark(contest.name, SeasonEnded(order.why))
        return sentence(
            f"the season of {contest.name} has ended; games that are being finished: {open_games(store, contest)}"
        )

    return contest.store.carry_out(contest.name, order, do)


def freeze_admissions(contest: Contest, order: OrganiserOrder) -> DoneOrder:
    """Close a ladder's admissions until `reopen_admissions`. Raises InputError."""
    left = games_left(contest)

    def do(store: Store) -> str:
        _refuse_ended(contest, store, left)
        _refuse_frozen(why_frozen(store, contest.name))
        store.remark(contest.name, AdmissionsFrozen(order.why))
        return sentence(f"admissions of {contest.name} are frozen; submissions that pass wait")

    return contest.store.carry_out(contest.name, order, do)


def reopen_admissions(contest: Contest, order: OrganiserOrder) -> DoneOrder:
    """Open a ladder's admissions. Raises InputError."""
    left = games_left(contest)

    def do(store: Store) -> str:
        _refuse_ended(contest, store, left)
        if why_frozen(store, contest.name) is None:
            raise InputError(sentence("admissions are open already"))
        store.remark(contest.name, AdmissionsReopened(order.why))
        return sentence(f"admissions of {contest.name} are open; submissions that passed join now")

    return contest.store.carry_out(contest.name, order, do)


def late_agents(contest: Contest) -> Sequence[str]:
    """Agents that may enter now."""
    return list(_late_entrants(contest))


def _late_entrants(contest: Contest) -> Mapping[str, Entrant]:
    contest.refresh()
    if contest.snapshot.format.withdrawal != "keeps" or not contest.to_come().games:
        return {}
    return dict(sorted(late_entrants(contest.planned, contest.snapshot.entries).items()))


def late_entrant(contest: Contest, agent: str, found: Mapping[str, Entrant]) -> Entrant:
    """Raises InputError if it cannot enter."""
    form = contest.snapshot.format
    if form.withdrawal != "keeps":
        raise InputError(
            sentence(f"no agent can enter the format {form.name} after the start, only a Swiss or a ladder")
        )
    if not form.has_rounds:
        _refuse_ended(contest, contest.store, games_left(contest))
    elif not contest.to_come().games:
        raise InputError(sentence("the last round is drawn: no agent can enter any more"))
    _refuse_frozen(contest.frozen_admissions)
    if agent not in found:
        names = ", ".join(sorted(found)) or "none"
        raise InputError(
            sentence(
                f"no passed submission of {agent!r} is without an entry; there are: {names}; "
                "send it with judge submit on this machine"
            )
        )
    if found[agent].agent.seat(contest.snapshot.policy).runtime not in contest.snapshot.images:
        runtimes = ", ".join(contest.snapshot.images)
        raise InputError(sentence(f"{agent} needs a runtime that the contest does not use; it uses: {runtimes}"))
    return found[agent]


def _author_number(contest: Contest, entrant: Entrant) -> int:
    snapshot, author = contest.snapshot, first_author(entrant.author)
    if snapshot.format.has_rounds or not author:
        return 0
    with closing(intake_directory(contest.planned).register()) as register:
        own = register.agents_of(entrant.author)
    known = {entry.author for entry in snapshot.entries}
    number = next((entry.author for entry in snapshot.entries if entry.name in own and entry.author), max(known) + 1)
    if entrant.parent:
        number = snapshot.by_name()[entrant.parent].author
    replaced = {entrant.parent, *(entry.parent for entry in snapshot.entries)}
    gone = (contest.absent() - _disqualified_by_organisers(contest)) | replaced
    active = [entry.name for entry in snapshot.entries if entry.author == number and entry.name not in gone]
    most = contest.planned.plan.agents_per_author
    if most and number and len(active) >= most:
        raise InputError(
            sentence(f"agents_per_author = {most}, and the author has {', '.join(active)}: withdraw one of them first")
        )
    return number


def games_left(contest: Contest) -> int:
    """Games of a ladder that are not drawn yet."""
    return 0 if contest.snapshot.format.has_rounds else contest.to_come().games


def _refuse_ended(contest: Contest, store: Store, left: int) -> None:
    if contest.snapshot.format.has_rounds:
        raise InputError(sentence(f"the format {contest.snapshot.format.name} has no season, only a ladder has one"))
    if not left or store.last_lines(contest.name, 1, SeasonEnded):
        raise InputError(sentence(f"the season of {contest.name} has ended already"))


def _refuse_frozen(why: str | None) -> None:
    if why is not None:
        raise InputError(sentence(f"admissions are frozen: {why}; reopen them first"))


def open_games(store: Store, contest: Contest) -> int:
    """Drawn games without a result."""
    counts = store.counts(contest.name)
    return counts[GameState.PENDING] + counts[GameState.RUNNING] + counts[GameState.HELD]


def joined_words(name: str, parent: str) -> str:
    """Effect of an entry into a ladder."""
    if parent:
        return sentence(f"{name} takes part from now on, and {parent} no longer")
    return sentence(f"{name} takes part from now on")


def _gone(agent: str, why: str) -> str:
    return sentence(f"{agent} no longer takes part: {why}")


def withdrawal_of(form: AnyFormat) -> Literal["annuls", "keeps"]:
    """Raises InputError if agents cannot withdraw."""
    if form.withdrawal == "refused":
        raise InputError(
            sentence(
                f"an agent cannot withdraw from the format {form.name} after the start, because pairings depend on it; "
                "disqualify it instead"
            )
        )
    return form.withdrawal
