"""Agents that may enter after the start, and their entries."""

from collections.abc import Mapping
from dataclasses import replace

from judge.base.errors import InputError
from judge.base.text import sentence
from judge.contest.contest import Contest, why_frozen
from judge.contest.entries import Entrant, first_author, intake_directory, sent_entrant
from judge.contest.take_snapshot import entry_of
from judge.journal.events import Disqualified, SeasonEnded
from judge.store.contests import Store
from judge.store.queries import Reader
from judge.store.submission_queries import RegisterReader
from judge.store.types import VERSIONED_CHARACTERS
from judge.tournament.formats import AnyFormat
from judge.tournament.formats.ladder import Ladder
from judge.tournament.snapshot import SnapshotEntry, is_new_version, newest_versions, start_rating


def possible_entrants(contest: Contest) -> Mapping[str, Entrant]:
    """Agents that may enter now, by name."""
    contest.refresh()
    if contest.snapshot.format.withdrawal != "keeps" or not contest.view().to_come.games:
        return {}
    return dict(sorted(late_entrants(contest).items()))


def late_entrants(contest: Contest) -> Mapping[str, Entrant]:
    """Passed submissions that are not entries, by name; in a ladder, also new versions."""
    directory, register = intake_directory(contest.planned), RegisterReader.for_contest(contest.store, contest.name)
    entries, withdrawn = contest.snapshot.entries, register.withdrawn()
    newest, taken = newest_versions(entries), {entry.name.casefold() for entry in entries}
    found = {}
    for each in register.entries():
        former = newest.get(each.name.casefold())
        if former is None:
            found[each.name] = sent_entrant(directory, each)
        elif not contest.snapshot.format.has_rounds and is_new_version(former, each.id, each.digest, withdrawn):
            name = f"{each.name[:VERSIONED_CHARACTERS]}.{each.version}"
            name += f"-{each.id}" if name.casefold() in taken else ""
            found[each.name] = replace(sent_entrant(directory, each), name=name, parent=former.name)
    return found


def late_entrant(contest: Contest, agent: str) -> Entrant:
    """Raises InputError if it cannot enter."""
    found, form = late_entrants(contest), contest.snapshot.format
    if agent in contest.snapshot.by_name() and agent not in found:
        raise InputError(sentence(f"{agent} takes part already"))
    if form.withdrawal != "keeps":
        raise InputError(
            sentence(f"no agent can enter the format {form.name} after the start, only a Swiss or a ladder")
        )
    if not form.has_rounds:
        refuse_ended(contest.store, contest.name, form)
    elif not contest.view().to_come.games:
        raise InputError(sentence("the last round is drawn: no agent can enter any more"))
    refuse_frozen(contest.store, contest.name)
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


def new_entry(contest: Contest, entrant: Entrant) -> SnapshotEntry:
    """The entry of an agent that enters next. Raises InputError if its author has too many."""
    rank, number = len(contest.snapshot.entries) + 1, _author_number(contest, entrant)
    entry = entry_of(entrant, rank, contest.planned, None, contest.snapshot.policy, number)
    return entry.model_copy(update={"start": start_rating(contest.snapshot.format, entry)})


def _author_number(contest: Contest, entrant: Entrant) -> int:
    snapshot, author = contest.snapshot, first_author(entrant.author)
    if snapshot.format.has_rounds or not author:
        return 0
    agents = RegisterReader.for_contest(contest.store, contest.name).agents_of(entrant.author)
    known = {entry.author for entry in snapshot.entries}
    number = next((entry.author for entry in snapshot.entries if entry.name in agents and entry.author), max(known) + 1)
    if entrant.parent:
        number = snapshot.by_name()[entrant.parent].author
    replaced = {entrant.parent, *(entry.parent for entry in snapshot.entries)}
    gone = (contest.view().absent - disqualified_by_organisers(contest.store, contest)) | replaced
    active = [entry.name for entry in snapshot.entries if entry.author == number and entry.name not in gone]
    most = contest.planned.plan.agents_per_author
    if most and number and len(active) >= most:
        raise InputError(
            sentence(f"agents_per_author = {most}, and the author has {', '.join(active)}: withdraw one of them first")
        )
    return number


def disqualified_by_organisers(store: Store, contest: Contest) -> set[str]:
    """Names of agents that failures did not disqualify."""
    lines = store.last_lines(contest.name, len(contest.snapshot.entries), Disqualified)
    changes = (line.change for line in lines if line.who is not None)
    return {change.agent for change in changes if isinstance(change, Disqualified)}


def season_is_over(reader: Reader, contest: str, form: Ladder) -> bool:
    """Whether no further game is drawn."""
    has_ended = bool(reader.last_lines(contest, 1, SeasonEnded))
    return form.is_season_over(sum(reader.counts(contest).values()), has_ended=has_ended)


def refuse_ended(reader: Reader, name: str, form: AnyFormat) -> None:
    """Raises InputError unless the season of a ladder runs."""
    if not isinstance(form, Ladder):
        raise InputError(sentence(f"the format {form.name} has no season, only a ladder has one"))
    if season_is_over(reader, name, form):
        raise InputError(sentence(f"the season of {name} has ended already"))


def refuse_frozen(store: Store, contest: str) -> None:
    """Raises InputError if admissions are frozen."""
    if (why := why_frozen(store, contest)) is not None:
        raise InputError(sentence(f"admissions are frozen: {why}; reopen them first"))
