"""What other packages register: found, or refused in a sentence that names the package, without harm to the others."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from judge import DISTRIBUTION
from judge.base import registry
from judge.base.errors import HostError, InputError
from judge.catalog import GAMES, game_entry
from judge.games import new_game
from judge.protocols import PROTOCOLS, protocol_entry

Install = Callable[..., None]

ENTRY = """
from judge.catalog.entry import GameEntry

class Nim(GameEntry):
    name = "nim"
    def new(self, options): ...
    def view(self, game, seat=None): ...

ENTRY = Nim()
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package of one module that registers `name`."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(package: str, source: str, name: str = "nim", group: str = "judge.games") -> None:
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {package}_module:ENTRY\n")
        (tmp_path / f"{package}_module.py").write_text(source)
        monkeypatch.delitem(sys.modules, f"{package}_module", raising=False)
        registry.forget()

    registry.forget()
    yield install
    registry.forget()


def refused(name: str) -> str:
    with pytest.raises(InputError) as error:
        game_entry(name)
    return str(error.value)


def test_a_game_of_another_package_is_found_and_listed_without_loading(install: Install) -> None:
    install("strange_nim", ENTRY)
    install("loud", "raise SystemError('loaded')", name="loud")

    assert {"nim", "loud"} <= {*GAMES.names()}
    assert "nim" == game_entry("nim").name


WITHOUT_A_VIEW = ENTRY.replace("    def view(self, game, seat=None): ...\n", "")


@pytest.mark.parametrize(
    ("source", "name", "why"),
    [
        ("import no_such", "nim", "cannot be imported (ModuleNotFoundError: No module named 'no_such')"),
        ("x = 1", "nim", "cannot be imported (AttributeError: module 'broken_module' has no attribute 'ENTRY')"),
        ("1 / 0", "nim", "cannot be imported (ZeroDivisionError: division by zero)"),
        (WITHOUT_A_VIEW, "nim", "cannot be imported (TypeError: Can't instantiate abstract class Nim"),
        ("ENTRY = {'name': 'nim'}", "nim", "is of the type dict and not GameEntry"),
        (ENTRY, "marienbad", "calls itself 'nim'"),
    ],
)
def test_an_entry_that_is_wrong_is_named_with_its_package(install: Install, source: str, name: str, why: str) -> None:
    install("broken", source, name=name)

    said = refused(name)
    assert said.startswith(f"the package broken registers the game '{name}' as broken_module:ENTRY, which {why}")
    assert said.endswith("; install a version that works with this judge, or uninstall it: pip uninstall broken")


@pytest.mark.parametrize(
    ("packages", "name", "named"),
    [
        (["first_nim", "second_nim"], "nim", ("first_nim", "second_nim")),
        (["a_gomoku"], "gomoku", (DISTRIBUTION, "a_gomoku")),
    ],
    ids=["both of others", "a name of ours"],
)
def test_two_packages_that_claim_one_name_are_both_named(
    install: Install, packages: list[str], name: str, named: tuple[str, str]
) -> None:
    for package in packages:
        install(package, ENTRY, name=name)

    assert refused(name) == (
        f"two packages, {named[0]} and {named[1]}, register a game called '{name}'; "
        f"uninstall one of them: pip uninstall {named[1]}"
    )
    assert "stratego" == game_entry("stratego").name


def test_a_broken_package_breaks_no_other_game(install: Install) -> None:
    install("broken", "1 / 0")
    install("broken_too", "1 / 0", name="gomocup-2", group="judge.protocols")

    assert {"gomoku", "quantum-chess", "stratego"} == {entry.name for entry in GAMES.working()}
    assert new_game("gomoku", {"width": 15, "height": 15}).end is None
    assert protocol_entry("gomocup").options().model_dump()
    with pytest.raises(InputError, match="the package broken_too registers the protocol"):
        protocol_entry("gomocup-2")


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    assert refused("gomuku") == "no game is called 'gomuku'; did you mean 'gomoku'?"
    with pytest.raises(InputError, match="no protocol is called 'gomocap'; did you mean 'gomocup'"):
        protocol_entry("gomocap")


@pytest.mark.usefixtures("install")
def test_installation_older_than_the_registry_names_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda: SimpleNamespace(select=lambda group: ()))

    with pytest.raises(HostError, match="own entries of judge") as refused:
        PROTOCOLS.names()
    assert str(refused.value).endswith("or install it again: pip install -e . --no-deps --no-build-isolation")
