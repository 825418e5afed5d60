"""A cup that is played once and exported once; tests that change an export change a copy."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from judge.publish.export import PageOptions, publish
from judge.publish.keys import make_key, public_pem
from tests.publish.browser import Browser, find_browser
from tests.publish.cups import STRONG_TO_WEAK, Cup


class Public:
    """An export: its directories, the organiser's key, and the public key, which everybody got from another source."""

    def __init__(self, folder: Path, key: Ed25519PrivateKey) -> None:
        self.directory = folder / "public"
        self.private = folder / "private"
        self.key = key
        self.public_key = folder / "announced.pem"
        self.public_key.write_bytes(public_pem(key.public_key()))

    def copy_to(self, folder: Path) -> "Public":
        shutil.copytree(self.directory, folder / "public")
        return Public(folder, self.key)


@pytest.fixture(scope="session")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    """Five agents, every two played twice; the third game was void once, one agent crashes."""
    cup = Cup(tmp_path_factory.mktemp("cup"), STRONG_TO_WEAK, more="[failures]\nafter = 1000")
    cup.play(void=[3])
    yield cup
    cup.close()


@pytest.fixture(scope="session")
def exported(cup: Cup, tmp_path_factory: pytest.TempPathFactory) -> Public:
    folder = tmp_path_factory.mktemp("exported")
    public = Public(folder, make_key(folder / "organiser.key"))
    publish(cup.contest, public.directory, public.private, public.key, PageOptions("https://example.org/cup/"))
    return public


@pytest.fixture
def copy(exported: Public, tmp_path: Path) -> Public:
    """An export that a test may change."""
    return exported.copy_to(tmp_path)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip("there is no browser here; scripts/test installs one")
    browser = Browser(program, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()
