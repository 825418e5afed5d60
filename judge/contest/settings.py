"""Settings that organisers may change until the start: title, description, clocks and times.

A change is an order: it rewrites contest.toml and is in the journal with its reason.
"""

import glob
import hashlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from judge.base.durable_files import PARTIAL, sync, write_durably
from judge.base.errors import HostError, InputError, os_errors_as
from judge.base.text import sentence
from judge.base.toml_files import read_text, toml_quoted
from judge.contest.plan import Planned, load_plan
from judge.contest.plan_edits import Document, edited, set_value, with_changes
from judge.contest.run_lock import alone
from judge.journal.events import SettingChange, SettingsChanged, cut
from judge.journal.sentences import changes_text
from judge.store.orders import DoneOrder, Orders, OrganiserOrder
from judge.store.submissions import Register

TEXTS = {"title": ("title",), "about": ("about",)}
"""Keys in contest.toml by setting."""

TIMES = {
    "opens": ("submissions", "opens"),
    "closes": ("submissions", "closes"),
    "starts": ("contest", "starts"),
    "ends": ("format", "ends"),
}

CLOCKS = {"turn_ms": "clock.turn_ms", "match_ms": "clock.match_ms", "control": "clock.control"}
"""Keys of the policy by setting."""

MAX_CHARACTERS = 400


@dataclass(frozen=True, slots=True)
class Settings:
    """Current values by name, as text. Times are local times of `zone`; an empty text is no value.

    `version` identifies the file's content.
    """

    values: Mapping[str, str]
    zone: str
    version: str


def settings_of(planned: Planned) -> Settings:
    """The settings of a contest file."""
    plan, clock = planned.plan, planned.policy.clock
    zone = plan.zone or "UTC"
    windows = plan.windows
    moments = {"opens": windows.opens, "closes": windows.closes, "starts": windows.starts}
    moments |= {} if plan.format.has_rounds else {"ends": plan.season_end}
    values = {"title": plan.title, "about": plan.about}
    for name, at in moments.items():
        local = at and at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        values[name] = local.isoformat(timespec="seconds") if local else ""
    if clock.control is None:
        values |= {"turn_ms": str(clock.turn_ms), "match_ms": str(clock.match_ms)}
    else:
        values["control"] = clock.control
    return Settings(values, zone, _digest(planned.text))


def change_settings(
    planned: Planned, register: Register, order: OrganiserOrder, wanted: Mapping[str, str], version: str
) -> DoneOrder:
    """Change the settings that differ from the file, once. `version`: of the settings that the organiser saw.

    Raises InputError if the contest has begun, the file was changed since, nothing differs, or a value is invalid.
    """

    def do(inner: Register) -> str:
        if inner.is_locked_in():
            raise InputError(FINAL)
        current = load_plan(planned.path)
        before = settings_of(current)
        if before.version != version:
            raise InputError(sentence("contest.toml was changed in the meantime: open this page again"))
        given = {name: wanted.get(name, value).strip() for name, value in before.values.items()}
        # Browsers omit seconds that are 0.
        without_seconds = [name for name in TIMES if len(given.get(name, "")) == len("2027-03-31T18:00")]
        given |= {name: f"{given[name]}:00" for name in without_seconds}
        changed = {name: text for name, text in given.items() if text != before.values[name]}
        if not changed:
            raise InputError(sentence("nothing was changed"))
        text = _changed_text(current, changed)
        with os_errors_as(HostError, prepared, ": the settings are unchanged"):
            write_durably(prepared, text.encode())
        try:
            load_plan(prepared)
        except InputError as error:
            raise InputError(str(error).replace(str(prepared), current.path.name)) from None
        changes = tuple(SettingChange(name, cut(before.values[name]), to) for name, to in changed.items())
        inner.note(SettingsChanged(changes, order.why))
        what = changes_text(changes)
        return sentence(f"settings changed: {what}")

    order = order.with_id()
    with alone(planned):  # no run begins with the old file
        finish_change(planned)
        prepared = planned.path.with_name(f"{planned.path.name}.{order.id}.{_version(planned)}{PARTIAL}")
        try:
            return register.carry_out(planned.name, order, do)
        finally:
            finish_change(planned)


def finish_change(planned: Planned) -> None:
    """Change the file if the journal has the order, which a killed process has perhaps given. The caller is `alone`."""
    start = f"{planned.path.name}."
    for prepared in planned.folder.glob(f"{glob.escape(start)}{'?' * 32}.{'?' * 64}{PARTIAL}*"):
        number, version, *_ = prepared.name.removeprefix(start).split(".")
        with closing(Orders(planned.store_url, planned.name)) as orders:
            is_due = orders.get(number) is not None and version == _version(planned)
        with os_errors_as(HostError, prepared, ": the next change, run or service tries it again"):
            if is_due:
                prepared.replace(planned.path)
            else:
                prepared.unlink()
            sync(planned.folder)


def _version(planned: Planned) -> str:
    """Of the file now."""
    return _digest(read_text(planned.path, "a contest file"))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


FINAL = sentence("The contest has begun: its title, description, clocks and times are final.")


def _changed_text(planned: Planned, changed: Mapping[str, str]) -> str:
    plan = planned.plan
    clocks = []
    for name, value in changed.items():
        if len(value) > MAX_CHARACTERS:
            raise InputError(sentence(f"{name}: more than {MAX_CHARACTERS} characters"))
        if name in CLOCKS:
            if name != "control" and not (value.isascii() and value.isdigit()):
                raise InputError(sentence(f"{name}: write whole milliseconds"))
            if not value:
                raise InputError(sentence("a time control is needed"))
            clocks.append(f"{CLOCKS[name]}={toml_quoted(value) if name == 'control' else value}")
    changes = with_changes(plan.change, clocks)

    def edit(document: Document) -> None:
        for name, value in changed.items():
            if name in TEXTS:
                set_value(document, TEXTS[name], value or None)
            elif name in TIMES:
                set_value(document, TIMES[name], _time(name, value, plan.zone) if value else None)
        if clocks:
            set_value(document, ("change",), list(changes))

    return edited(planned.text, edit)


def _time(name: str, value: str, zone: str) -> datetime:
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise InputError(sentence(f"{name}: write a time such as 2027-03-31T18:00")) from None
    return at if zone or at.tzinfo is not None else at.replace(tzinfo=UTC)
