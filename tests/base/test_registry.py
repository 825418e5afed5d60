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


def test_two_packages_that_claim_one_name_are_both_named(install: Install) -> None:
    install("first_nim", ENTRY)
    install("second_nim", ENTRY)

    assert refused("nim") == (
        "two packages, first_nim and second_nim, register a game called 'nim'; "
        "uninstall one of them: pip uninstall second_nim"
    )


def test_a_package_that_claims_a_name_of_ours_is_the_one_to_go(install: Install) -> None:
    install("a_gomoku", ENTRY, name="gomoku")

    assert refused("gomoku") == (
        f"two packages, {DISTRIBUTION} and a_gomoku, register a game called 'gomoku'; "
        "uninstall one of them: pip uninstall a_gomoku"
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
