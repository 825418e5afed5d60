"""Agents that enter and leave after the start without an organiser."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from judge.base.errors import InputError
from judge.base.text import sentence
from judge.contest.contest import Contest, why_frozen
from judge.contest.entries import Entrant, intake_directory
from judge.contest.late_entries import disqualified_by_organisers, possible_entrants, season_is_over
from judge.contest.orders.contest_orders import Enter, EntriesChangedError, Withdraw, withdraw
from judge.contest.orders.order import Effect
from judge.journal.events import Entered, NotEntered, cut
from judge.store.contests import Store
from judge.store.orders import OrganiserOrder
from judge.store.queries import Reader
from judge.store.types import NotNowError, Submission
from judge.tournament.formats.ladder import Ladder
from judge.tournament.snapshot import read_snapshot

if TYPE_CHECKING:
    from judge.store.submissions import Register


BY_AUTHOR = sentence("withdrawn by its author")


def withdraw_agent(register: "Register", agent: str, author: str) -> None:
    """Withdraw an author's agent, in a ladder also its entry. Raises NotNowError, NotFoundError."""
    with register.change() as inner:
        form = _ladder_of(inner)
        if form is None and inner.has_begun():
            raise NotNowError("the contest has begun: ask the organiser to withdraw the agent")
        _withdraw_entries(inner, form, author, inner.withdraw_versions(agent, author, BY_AUTHOR))


def withdraw_submission(register: "Register", number: int, author: str) -> Submission:
    """As `withdraw_agent`, for one version, also after the start."""
    with register.change() as inner:
        withdrawn = inner.withdraw(number, author, BY_AUTHOR, author)
        _withdraw_entries(inner, _ladder_of(inner), author, [number])
        return withdrawn


def _ladder_of(register: "Register") -> Ladder | None:
    document = register.document()
    form = None if document is None else read_snapshot(document).format
    return form if isinstance(form, Ladder) else None


def _withdraw_entries(register: "Register", form: Ladder | None, author: str, numbers: Sequence[int]) -> None:
    if form is None:
        return
    store, entries, name = Store.from_part(register), register.own_entries(author), register.contest
    active = [entries[number].name for number in numbers if number in entries and entries[number].is_active]
    if active and season_is_over(store, name, form):
        raise NotNowError(sentence(f"the season of {name} has ended already"))
    for agent in active:
        order = OrganiserOrder(author, Withdraw.action, agent, BY_AUTHOR)
        store.carry_out(name, order, partial(withdraw, contest=name, form=form, order=order))


def joins_later(register: "Register") -> bool:
    """Whether agents that pass after the start join."""
    form = _ladder_of(register)
    return (
        register.joins_later if form is None else not season_is_over(Reader.from_part(register), register.contest, form)
    )


class _EnterPassed(Enter):
    def do(self, inner: Store) -> Effect:
        _refuse_disqualified(inner, self.contest, self.entrant)
        return super().do(inner)


def enter_passed(contest: Contest) -> bool:
    """Enter a ladder's passed submissions; the journal has the reasons of refusals. True if a version has to wait."""
    if why_frozen(contest.store, contest.name) is not None:
        return False
    has_to_wait = False
    for agent, entrant in possible_entrants(contest).items():
        try:
            if most := _reached_limit(contest, entrant):
                has_to_wait = True
                raise InputError(sentence(f"its author entered {most} new versions in 24 hours: the newest one waits"))
            order = OrganiserOrder("judge", Enter.action, agent, "its check passed", f"passed-{entrant.submission}")
            _EnterPassed(contest, order).carry_out()
        except EntriesChangedError:
            return True  # at once: the scheduler reads the other entry in the log
        except InputError as error:
            contest.store.log_once(contest.name, NotEntered(agent, cut(str(error))), "judge")
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


def _refuse_disqualified(store: Store, contest: Contest, entrant: Entrant) -> None:
    entries, out = contest.snapshot.by_name(), {each.name: each for each in store.gone_entries(contest.name)}
    if entrant.parent in disqualified_by_organisers(store, contest):
        why = out[entrant.parent].disqualified
        raise InputError(
            sentence(f"{entrant.parent} is disqualified: {why}; only an organiser can enter a new version of it")
        )
    for name, each in out.items():
        if each.disqualified is not None and entries[name].seat.digest == entrant.agent.digest:
            raise InputError(
                sentence(f"it has the files of {name}, which is disqualified; only an organiser can enter it")
            )
