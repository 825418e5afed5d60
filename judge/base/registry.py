"""What packages register as entry points: games, protocols, contest managers, commands and pages. Loaded on demand.

Listing names imports nothing, and a broken package does not affect others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

import judge
from judge.base.errors import HostError, InputError
from judge.base.resources import PLUGINS
from judge.base.text import quote, suggest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OWN_GROUPS = ("judge.games", "judge.protocols")
"""Groups in which the judge registers entries."""

GROUPS = (*OWN_GROUPS, "judge.formats", "judge.commands", "judge.pages")

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Registry(Generic[Entry]):
    """An entry point group of type `kind`; messages call entries `noun`."""

    group: str
    noun: str
    kind: type[Entry]

    @property
    def plugins(self) -> Mapping[str, str]:
        """Names that distributions in plugins/ register, with the distribution."""
        return _plugins()[self.group]

    def __contains__(self, name: str) -> bool:
        """Whether `entry` finds it, or names the distribution that registers it."""
        return name in _registered(self.group) or name in self.plugins

    def names(self) -> list[str]:
        """Sorted, including broken entries. Raises HostError like `entry`."""
        return sorted(_registered(self.group))

    def entry(self, name: str) -> Entry:
        """Raises InputError, with package and fix, if the entry is unknown, broken or registered twice.

        Raises HostError if the judge's own are not registered.
        """
        registered = _registered(self.group)
        if name not in registered:
            self.refuse_missing_plugin(name)
            known = {*registered, *self.plugins}
            raise InputError(f"no {self.noun} is called {quote(name, 80)}; {suggest(name, known)}")
        points = registered[name]
        if len(points) > 1:
            first, second = (_package(point) for point in points[:2])
            raise InputError(
                f"two packages, {first} and {second}, register a {self.noun} called {name!r}; "
                f"uninstall one of them: pip uninstall {second}"
            )
        return self._load(points[0])

    def refuse_missing_plugin(self, name: str) -> None:
        """Raises InputError for a name of a distribution in plugins/ that is not installed."""
        if name in self.plugins and name not in _registered(self.group):
            raise InputError(f"the {self.noun} {name!r} is missing: {install_hint(self.plugins[name])}")

    def working(self) -> Iterator[Entry]:
        """Loadable entries, by name."""
        for name in self.names():
            try:
                yield self.entry(name)
            except InputError:
                continue

    def _load(self, point: EntryPoint) -> Entry:
        try:
            entry = _loaded(point)
        except Exception as error:
            raise self._broken(point, f"cannot be imported ({type(error).__name__}: {error})") from error
        if not isinstance(entry, self.kind):
            raise self._broken(point, f"is of the type {type(entry).__name__} and not {self.kind.__name__}")
        # Records find a game by its name.
        name = getattr(entry, "name", point.name)
        if name != point.name:
            raise self._broken(point, f"calls itself {name!r}")
        return entry

    def _broken(self, point: EntryPoint, why: str) -> InputError:
        package = _package(point)
        return InputError(
            f"the package {package} registers the {self.noun} {point.name!r} as {point.value}, which {why}; "
            f"install a version that works with this judge, or uninstall it: pip uninstall {package}"
        )


def install_hint(plugin: str) -> str:
    """Name the distribution and the command that installs it."""
    folder = plugin.removeprefix("judge-")
    return f"install {plugin}, in a clone of the judge's repository: pip install ./plugins/{folder}"


@cache
def _plugins() -> Mapping[str, Mapping[str, str]]:
    import tomllib  # with importlib.metadata it takes longer than most commands

    return tomllib.loads(PLUGINS.read_text(encoding="utf-8"))


def _registered(group: str) -> Mapping[str, Sequence[EntryPoint]]:
    """Entry points by name; among duplicates the judge's own come first, then by package."""
    points, has_own = _scan()[group]
    if group in OWN_GROUPS and not has_own:
        raise HostError(
            f"the judge's own entries of {group} are not registered: it was installed before they were added; "
            "run scripts/test, or install it again: pip install -e . --no-deps --no-build-isolation"
        )
    return points


@cache
def _scan() -> Mapping[str, tuple[Mapping[str, Sequence[EntryPoint]], bool]]:
    """Entry points by group, and whether the judge's own are there."""
    from importlib.metadata import entry_points

    installed = entry_points()
    groups = {}
    for group in GROUPS:
        by_name: dict[str, list[EntryPoint]] = {}
        for point in installed.select(group=group):
            by_name.setdefault(point.name, []).append(point)
        for points in by_name.values():
            if len(points) > 1:  # a package's name is read from its metadata
                points.sort(key=lambda point: (not _is_own(point), _package(point)))
        groups[group] = by_name, any(_is_own(points[0]) for points in by_name.values())
    return groups


@cache
def _loaded(point: EntryPoint) -> object:
    return point.load()


def forget() -> None:
    """Clear the cache, after packages were installed."""
    _scan.cache_clear()
    _loaded.cache_clear()


def _is_own(point: EntryPoint) -> bool:
    return point.module.partition(".")[0] == judge.__name__


def _package(point: EntryPoint) -> str:
    return "unknown" if point.dist is None else point.dist.name
