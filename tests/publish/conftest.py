"""A cup that is played once and exported once; tests that change an export change a copy."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.publish.export import PageOptions, publish
from judge.publish.keys import make_key
from tests.publish.browser import Browser, find_browser
from tests.publish.cups import STRONG_TO_WEAK, Cup
from tests.publish.log_forgeries import held
from tests.publish.public import Public


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
def logged(tmp_path_factory: pytest.TempPathFactory) -> Public:
    """Two agents, whose first game was void once: a log of eleven leaves."""
    folder = tmp_path_factory.mktemp("logged")
    return held(folder, make_key(folder / "organiser.key"))


@pytest.fixture
def logged_copy(logged: Public, tmp_path: Path) -> Public:
    """The same, which a test may change."""
    return logged.copy_to(tmp_path)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip("there is no browser here; scripts/test installs one")
    browser = Browser(program, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()
