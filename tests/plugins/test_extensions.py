"""examples/plug-in adds a format of contests, a command and a page; without it, or if it is broken, it is named."""

import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from judge.base import registry
from judge.base.errors import InputError
from judge.cli import app
from judge.publish.pages import PAGES, PageEntry
from judge.publish.verify.export import verify_export
from judge.transparency.keys import make_key
from tests.publish.cups import Cup
from tests.publish.public import Public, sign_again

EXAMPLE = Path(__file__).parents[2] / "examples/plug-in"

Install = Callable[[str], None]

GROUPS = ("judge.formats", "judge.commands", "judge.pages")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs the example with this source; an empty one removes it."""
    site = tmp_path / "site"
    info = site / "judge_club-0.1.0.dist-info"
    info.mkdir(parents=True)
    monkeypatch.syspath_prepend(site)
    groups = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]
    assert set(GROUPS) == set(groups)

    def install(source: str) -> None:
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: judge-club\nVersion: 0.1.0\n")
        lines = [f"[{group}]\n{name} = {place}\n" for group, names in groups.items() for name, place in names.items()]
        (info / "entry_points.txt").write_text("".join(lines) if source else "")
        (site / "judge_club.py").write_text(source)
        monkeypatch.delitem(sys.modules, "judge_club", raising=False)
        registry.forget()

    yield install
    registry.forget()


@pytest.fixture
def installed(install: Install) -> None:
    install((EXAMPLE / "judge_club.py").read_text())


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False, env={"COLUMNS": "160"})


@pytest.fixture
def with_page(installed: None, cup: Cup, tmp_path: Path) -> Public:
    """An export with the page."""
    key = make_key(tmp_path / "organiser.key")
    done = run(
        *("contest", "export", tmp_path / "public", cup.folder, "--key", tmp_path / "organiser.key"),
        *("--private", tmp_path / "private", "--language", "en", "--page", "shortest"),
    )
    assert 0 == done.exit_code, done.output
    return Public(tmp_path, key)


def problems(public: Public) -> list[str]:
    return list(verify_export(public.directory, public.public_key).problems)


def test_command_of_a_package_runs_and_is_listed(installed: None, cup: Cup) -> None:
    first, second = cup.contest.view().results[0].agents

    assert f"{first} - {second}: " in run("score", cup.folder, first, second).stdout
    assert "Print the score of one agent against another." in run("--help").stdout


def test_contest_is_written_in_the_format_of_a_package(installed: None, cup: Cup, tmp_path: Path) -> None:
    done = run("contest", "export", tmp_path / "csv", cup.folder, "--as", "csv")

    assert 0 == done.exit_code, done.output
    lines = (tmp_path / "csv/games.csv").read_text(encoding="utf-8-sig").splitlines()
    assert "number,first,second,verdict" == lines[0]
    assert len(cup.contest.view().results) == len(lines) - 1


def test_page_of_a_package_is_linked_and_verified(with_page: Public) -> None:
    page = with_page.directory / "pages/shortest.html"

    assert "pages/shortest.html" in (with_page.directory / "index.html").read_text()
    assert "<li>game " in page.read_text()
    assert [] == problems(with_page)


def test_changed_page_of_a_package_is_a_problem(with_page: Public) -> None:
    page = with_page.directory / "pages/shortest.html"
    page.write_text(page.read_text().replace("moves", "stones"))
    (with_page.directory / "pages/more").mkdir()
    (with_page.directory / "pages/more/shortest.html").write_bytes(page.read_bytes())
    sign_again(with_page)

    wrong = "not the page that follows from the results"
    assert f"pages/shortest.html: {wrong}" in problems(with_page)
    assert any(each.startswith("pages/more/shortest.html: it cannot be verified") for each in problems(with_page))


def test_page_without_its_package_is_a_problem(with_page: Public, install: Install) -> None:
    install("")

    (problem,) = problems(with_page)
    assert problem.startswith("pages/shortest.html: it cannot be verified: no page is called 'shortest'; ")


def test_page_of_a_distribution_in_plugins_names_it_when_it_is_missing(with_page: Public, install: Install) -> None:
    page = with_page.directory / "pages/shortest.html"
    page.rename(page.with_name("rating-list.html"))
    sign_again(with_page)
    install("")

    (problem,) = problems(with_page)
    assert problem == (
        "pages/rating-list.html: it cannot be verified: the page 'rating-list' is missing: install judge-gomocup, in a "
        "clone of the judge's repository: pip install ./plugins/gomocup"
    )


def test_a_page_that_fails_to_render_is_a_problem(with_page: Public, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(contest: object) -> bytes:
        raise ZeroDivisionError(f"of {type(contest).__name__}")

    monkeypatch.setattr(sys.modules["judge_club"], "PAGE", PageEntry("shortest", "Shortest games", fail))
    registry.forget()

    assert ["pages/shortest.html: it cannot be verified: ZeroDivisionError: of ContestView"] == problems(with_page)


def test_a_broken_package_is_named_and_harms_no_other_command(install: Install, cup: Cup, tmp_path: Path) -> None:
    install("1 / 0")
    broken = "as judge_club:{}, which cannot be imported \\(ZeroDivisionError: division by zero\\)"

    assert 0 == run("contest", "standings", cup.folder).exit_code
    assert "the package judge-club registers the command 'score'" in run("--help").stdout
    with pytest.raises(InputError, match=broken.format("COMMAND")):
        run("score", cup.folder, "a", "b")
    with pytest.raises(InputError, match=broken.format("FORMAT")):
        run("contest", "export", tmp_path / "csv", cup.folder, "--as", "csv")
    with pytest.raises(InputError, match=broken.format("PAGE")):
        run("contest", "export", tmp_path / "public", cup.folder, "--page", "shortest")
    assert [] == list(PAGES.working())


@pytest.mark.parametrize(
    "words",
    [
        ("rating-list", "results", "standard"),
        ("contest", "import", "gomocup", "cup.txt"),
        ("contest", "compare", "gomocup", "result", "cup"),
        ("contest", "export", "public", "cup", "--as", "gomocup"),
        ("contest", "export", "public", "cup", "--page", "rating-list"),
    ],
    ids=" ".join,
)
def test_what_judge_gomocup_adds_names_it_when_it_is_missing(words: tuple[str, ...], cup: Cup) -> None:
    given = [cup.folder if word == "cup" and at == 3 else word for at, word in enumerate(words)]
    with pytest.raises(InputError, match=r"is missing: install judge-gomocup, in .*: pip install \./plugins/gomocup"):
        run(*given)


def test_an_unknown_command_is_answered_with_the_nearest_also_of_other_packages() -> None:
    assert "did you mean rating-list?" in run("rating-lists").stderr
