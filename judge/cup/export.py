"""Writes the export of a cup: the export of each league that has begun, and pages with a manifest over all of them.

DIR/index.html, agents.html, agents/, schedule.html, cup.json     the cup
DIR/announcement.json                                             its leagues before the start
DIR/manifest.json, manifest.sig, organiser.pem                    its files, and the manifest of each league
DIR/LEAGUE/                                                       an ordinary export with its own manifest and log
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.base.errors import InputError
from judge.base.progress import Tracker, untracked
from judge.contest.contest import Contest, open_store
from judge.contest_view.values import Stream, minute
from judge.cup.plan import ANNOUNCEMENT, PlannedCup
from judge.cup.results import CupResults, LeagueResults, read_exported
from judge.publish.export.export import ExportSummary, PageOptions, new_export, publish
from judge.publish.manifest import CUP_DOCUMENT, write_manifest
from judge.site.pages import POLICY, STYLE, VERIFIER, Page, PagePlace, asset, render
from judge.site.rules import goal_in_words
from judge.submissions.windows import Windows
from judge.tournament.standings import SHOWN_COLUMNS
from judge.translations.language import Language, languages
from judge.transparency.keys import KEY_FILE, fingerprint, load_key

_INDEX, _AGENTS, _SCHEDULE = "index.html", "agents.html", "schedule.html"


class CupSite:
    """A cup's pages by path, exported or on a server.

    `hosted`: on a server each league's contest name, which is its folder.
    """

    def __init__(self, planned: PlannedCup, results: CupResults, hosted: Mapping[str, str] | None = None) -> None:
        self._planned = planned
        self._results = results
        self._hosted = hosted

    @cached_property
    def _agents(self) -> Mapping[str, str]:
        return {f"agents/{number:03d}.html": agent for number, agent in enumerate(self._results.agents, 1)}

    @property
    def paths(self) -> Sequence[str]:
        return [_INDEX, _AGENTS, _SCHEDULE, *self._agents]

    def page(self, place: PagePlace, stream: Stream | None = None) -> bytes | None:
        """Render a page; None if it is unknown. With a `stream` it updates itself."""
        results = self._results
        values: Mapping[str, Any] = {
            "cup": results,
            "contest_name": results.name,
            "here": place.path.removesuffix(".html"),
            "addresses": {agent: place.root + path for path, agent in self._agents.items()},
            "folder_of": lambda league: self._folder(place, league),
            "link_of": lambda league: self._link(place, league),
            "rules_of": lambda league: goal_in_words(league.contest.snapshot.policy),
            "is_served": self._hosted is not None,
            **({"policy": POLICY} if stream is None else {}),
        }
        more: Mapping[str, Any] = {}
        if place.path == _INDEX:
            template = "cup_index.html"
        elif place.path == _AGENTS:
            rows = [(agent, [_place(league, agent) for league in results.leagues]) for agent in results.agents]
            template, more = "cup_agents.html", {"rows": rows}
        elif place.path == _SCHEDULE:
            template, more = "cup_schedule.html", self._schedule()
        elif (agent := self._agents.get(place.path)) is not None:
            template = "cup_agent.html"
            more = {
                "agent_name": agent,
                "leagues": list(results.of_agent(agent)),
                "medals": next((each for each in results.medals if each.agent == agent), None),
                "columns": SHOWN_COLUMNS,
            }
        else:
            return None
        return render(template, place, {**values, **more}, stream, __package__)

    def _folder(self, place: PagePlace, league: LeagueResults) -> str:
        folder = league.name if self._hosted is None else self._hosted.get(league.name, league.name)
        return f"{place.top}{folder}/{place.file.removesuffix(place.path)}"

    def _link(self, place: PagePlace, league: LeagueResults) -> str:
        is_live = self._hosted is not None and not league.is_over
        has_pages = league.contest is not None if self._hosted is None else league.name in self._hosted
        return self._folder(place, league) + ("live.html" if is_live else _INDEX) if has_pages else ""

    def _schedule(self) -> Mapping[str, Any]:
        planned = self._planned
        rows = []
        for league in self._results.leagues:
            starts = dict(planned.contest(league.name).plan.windows.moments).get("starts")
            began, ended = ("", "") if league.contest is None else league.contest.period
            shown = "" if starts is None else minute(starts.isoformat())
            rows.append({"league": league, "starts": shown, "began": began, "ended": ended})
        windows = planned.contest(planned.cup.leagues[0].name).plan.windows
        dates = Windows(windows.opens, windows.closes).moments
        return {"rows": rows, "dates": dates, "machines": planned.cup.machines}


def cup_pages(planned: PlannedCup, results: CupResults, languages: Sequence[Language]) -> Iterator[Page]:
    """Pages in each language, style sheet and verifier."""
    for name in (STYLE, VERIFIER):
        yield name, asset(name)
    site = CupSite(planned, results)
    for language in languages:
        for path in site.paths:
            place = PagePlace(path, language, languages)
            page = site.page(place)
            if page is not None:
                yield place.file, page


def _place(league: LeagueResults, agent: str) -> str:
    contest = league.contest
    if contest is None or agent not in contest.by_name:
        return ""
    return "-" if agent in contest.out else str(contest.lines[agent].place)


@dataclass(frozen=True, slots=True)
class CupSummary:
    """Manifest's SHA-256, key's fingerprint, and the leagues' exports."""

    digest: str
    fingerprint: str
    leagues: Mapping[str, ExportSummary]


def export_cup(
    planned: PlannedCup,
    directory: Path,
    private: Path,
    key: Ed25519PrivateKey,
    options: PageOptions,
    track: Tracker = untracked,
) -> CupSummary:
    """Write the public part to `directory` and the authors' parts below `private`; both must be new.

    A league's export is signed by the organiser.key in its folder, or by `key`. Raises InputError and HostError.
    """
    planned.refuse_changes()
    with new_export(directory, private) as (partial, partial_private):
        leagues = _write(planned, partial, partial_private, key, options, track)
        digest = write_manifest(partial, planned.cup.name, key, leagues)
    return CupSummary(digest, fingerprint(key.public_key()), leagues)


def _write(
    planned: PlannedCup, target: Path, private: Path, key: Ed25519PrivateKey, options: PageOptions, track: Tracker
) -> Mapping[str, ExportSummary]:
    target.mkdir(parents=True)
    private.mkdir(mode=0o700, parents=True)
    exported: dict[str, ExportSummary] = {}
    for league in planned.cup.leagues:
        begun = planned.begun(league.name)
        if begun is None:
            continue
        key_file = begun.folder / KEY_FILE
        signing = load_key(key_file) if key_file.exists() else key
        address = options.address and f"{options.address}{league.name}/"
        pages = replace(options, address=address, above=planned.cup.name)
        with closing(open_store(begun)) as store:
            contest = Contest(store, begun)
            exported[league.name] = publish(contest, target / league.name, private / league.name, signing, pages, track)
    if not exported:
        raise InputError(f"{planned.cup.name}: no league has begun; judge contest run {planned.path} begins them")
    results = read_exported(planned.cup, target, exported)
    signed = {name: (summary.digest, summary.fingerprint) for name, summary in exported.items()}
    (target / CUP_DOCUMENT).write_bytes(results.document(signed).encoded())
    (target / ANNOUNCEMENT).write_bytes(planned.announcement.encoded())
    for path, page in cup_pages(planned, results, languages(options.languages)):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(page)
    return exported
