"""What installed packages register with the judge: found by name through Python's entry points, loaded when asked for.

The judge's own games and protocols are in its pyproject.toml exactly as another package's are in that package's.
To list names imports nothing; to ask for one imports that one alone, so a package that is broken breaks nobody else's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from judge.base.errors import HostError, InputError
from judge.base.text import quote, suggest

OWN = "judge"
"""The distribution whose entries are ours."""

GROUPS = ("judge.games", "judge.protocols")
"""The groups of entry points that packages can register with the judge."""

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Registry(Generic[Entry]):
    """The entries of one group of entry points, each of the type `kind`; `noun` is what people call one."""

    group: str
    noun: str
    kind: type[Entry]

    def names(self) -> list[str]:
        """Every name that is registered, sorted, those of broken entries too; HostError as `entry`."""
        return sorted(_registered(self.group))

    def entry(self, name: str) -> Entry:
        """The entry called `name`.

        InputError if there is none, if two packages claim the name, or if the entry is broken: it names the
        package and says what to do. HostError where the judge's own entries are not registered.
        """
        registered = _registered(self.group)
        if name not in registered:
            raise InputError(f"no {self.noun} is called {quote(name, 80)}; {suggest(name, registered)}")
        points = registered[name]
        if len(points) > 1:
            first, second = (_package(point) for point in points[:2])
            raise InputError(
                f"two packages, {first} and {second}, register a {self.noun} called {name!r}; "
                f"uninstall one of them: pip uninstall {second}"
            )
        return self._load(points[0])

    def working(self) -> Iterator[Entry]:
        """Every entry that can be loaded, in the order of names; broken ones are left out."""
        for name in self.names():
            try:
                yield self.entry(name)
            except InputError:
                continue

    def _load(self, point: EntryPoint) -> Entry:
        try:
            entry = point.load()
        except Exception as error:  # a module of another package may raise anything
            raise self._broken(point, f"cannot be imported ({type(error).__name__}: {error})") from error
        if not isinstance(entry, self.kind):
            raise self._broken(point, f"is of the type {type(entry).__name__} and not {self.kind.__name__}")
        # Games know their names, by which their records find them again.
        own = getattr(entry, "name", point.name)
        if own != point.name:
            raise self._broken(point, f"calls itself {own!r}")
        return entry

    def _broken(self, point: EntryPoint, why: str) -> InputError:
        package = _package(point)
        return InputError(
            f"the package {package} registers the {self.noun} {point.name!r} as {point.value}, which {why}; "
            f"install a version that works with this judge, or uninstall it: pip uninstall {package}"
        )


def _registered(group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """The entry points of a group by name; ours come first where a name is claimed twice."""
    points, has_own = _scan()[group]
    if not has_own:
        raise HostError(
            f"the judge's own entries of {group} are not registered: it was installed before they were added; "
            "run scripts/test, or install it again: pip install -e . --no-deps --no-build-isolation"
        )
    return points


@cache
def _scan() -> Mapping[str, tuple[Mapping[str, tuple[EntryPoint, ...]], bool]]:
    """The entry points of each group, and whether ours are there, found once: a scan of the installed packages and of
    their names takes some 20 ms."""
    installed = entry_points()
    groups = {}
    for group in GROUPS:
        by_name: dict[str, tuple[EntryPoint, ...]] = {}
        for point in sorted(installed.select(group=group), key=lambda point: _package(point) != OWN):
            by_name[point.name] = (*by_name.get(point.name, ()), point)
        groups[group] = by_name, any(_package(claimed[0]) == OWN for claimed in by_name.values())
    return groups


def forget() -> None:
    """Look for entry points anew when one is asked for next: packages were installed since."""
    _scan.cache_clear()


def _package(point: EntryPoint) -> str:
    """The name of an entry's package: its metadata takes some milliseconds to parse."""
    return "unknown" if point.dist is None else point.dist.name
