"""The site in a real browser, from disk: nothing is fetched, nothing complains, and the keys step through a game."""

import os
import threading
from contextlib import nullcontext
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from judge.publish.export.export import PageOptions
from tests.contests import PAIR, Recipe
from tests.examples import evidence, sized
from tests.publish.cups import STRONG_TO_WEAK, Cast
from tests.publish.public import Public
from tests.site.browser import VIEWS, Browser

SHOWN = """[...document.querySelectorAll("svg.film [data-s], svg.film .marks use")].filter(
  (element) => getComputedStyle(element).display !== "none").length"""
STYLED = "getComputedStyle(document.querySelector('.top')).display"


LANGUAGES = ["", "cs/", "zh/"]


def test_browser_shows_no_cached_page_of_another_server(browser: Browser, tmp_path: Path) -> None:
    """A server may get the port of one that ended; a page without `cache-control` that is old stays in a cache."""
    port, seen = 0, []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "page.html").write_text(f"<p>server {number}</p>")
        os.utime(folder / "page.html", (1362247260, 1362247260))
        handler = partial(QuietHandler, directory=folder)
        with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            port = server.server_address[1]
            browser.leave()
            browser.visit(f"http://127.0.0.1:{port}/page.html")
            seen.append(browser.ask("document.body.textContent").strip())
            server.shutdown()
            thread.join()
    browser.leave()

    assert ["server 0", "server 1"] == seen


class QuietHandler(SimpleHTTPRequestHandler):
    """Writes no log."""

    def log_message(self, *_: object) -> None:
        pass


def pages_of(directory: Path) -> list[Path]:
    names = ("index", "crosstable", "games", "rounds", "journal", "fairness", "verify")
    return [directory / f"{name}.html" for name in (*names, "rounds/001", "agents/001", "pairs/001-002", "games/00001")]


def test_every_page_opens_from_disk_without_network_and_errors(browser: Browser, exported: Public) -> None:
    browser.leave()
    browser.requests.clear()
    for page in pages_of(exported.directory):
        browser.open(page)
        assert "flex" == browser.ask(STYLED), page

    assert [] == browser.errors
    top = exported.directory.absolute().as_uri()
    elsewhere = [url for url in browser.requests if not url.startswith((top, "data:", "about:"))]
    assert [] == elsewhere


@pytest.mark.parametrize(("folder", "width", "dark"), VIEWS)
def test_axe_finds_nothing_wrong_with_any_kind_of_page(
    browser: Browser, exported: Public, folder: str, width: int, dark: bool
) -> None:
    browser.set_view(width, dark)
    for page in pages_of(exported.directory / folder):
        browser.open(page)
        browser.check(width, page)


def test_language_is_switched_without_script_and_the_page_stays(browser: Browser, exported: Public) -> None:
    with browser.without_scripts():
        for page in pages_of(exported.directory)[:: sized(3, 1)]:
            path = page.relative_to(exported.directory)
            browser.open(page)
            seen = []
            for _ in LANGUAGES:
                target = browser.ask(
                    """(() => { const links = [...document.querySelectorAll(".languages a")];
                    const here = links.findIndex((link) => link.ariaCurrent);
                    return links[(here + 1) % links.length].href; })()"""
                )
                browser.open(Path(target.removeprefix("file://")))
                seen.append((target.partition("public/")[2], browser.ask("document.documentElement.lang")))
            assert [(f"cs/{path}", "cs"), (f"zh/{path}", "zh-Hans"), (str(path), "en")] == seen


def test_keys_and_buttons_step_through_a_game(browser: Browser, exported: Public) -> None:
    browser.set_view(1000)
    browser.open(exported.directory / "games/00001.html")
    last = browser.ask("Number(document.querySelector('svg.film').dataset.last)")
    caption = "document.querySelector('.caption').textContent"
    assert last > 6
    at_the_end = browser.ask(SHOWN)

    browser.press("Home")
    # The two stones of the opening, and nothing is marked yet.
    assert (2, f"2 of {last + 2}") == (browser.ask(SHOWN), browser.ask(caption))
    browser.press("ArrowRight")
    browser.press("ArrowRight")
    assert browser.ask(caption).startswith(f"4 of {last + 2}: ")
    assert "#2" == browser.ask("location.hash")
    # Four stones, and a mark on the last one.
    assert 5 == browser.ask(SHOWN)
    browser.press("ArrowLeft")
    assert 4 == browser.ask(SHOWN)
    browser.ask("document.querySelector('[data-go=on]').click()")
    assert 5 == browser.ask(SHOWN)
    browser.ask("document.getElementById('3').click()")
    assert browser.ask(caption).startswith(f"5 of {last + 2}: ")
    browser.press("End")
    assert at_the_end == browser.ask(SHOWN)
    browser.press("ArrowRight")
    assert f"#{last}" == browser.ask("location.hash")
    assert browser.ask(caption).startswith(f"{last + 2} of {last + 2}: ")


def test_play_steps_to_the_end_and_stops_there(browser: Browser, exported: Public) -> None:
    browser.set_view(1000)
    browser.open(exported.directory / "games/00001.html")
    last = browser.ask("Number(document.querySelector('svg.film').dataset.last)")
    browser.ask(f"document.getElementById('{last - 2}').click()")
    button = "document.querySelector('[data-go=play]')"

    browser.ask(f"{button}.click()")

    assert "true" == browser.ask(f"{button}.getAttribute('aria-pressed')")
    browser.wait_for(f"location.hash === '#{last}'")
    assert "false" == browser.ask(f"{button}.getAttribute('aria-pressed')")


def test_the_list_of_games_is_sorted_and_filtered(browser: Browser, exported: Public) -> None:
    browser.set_view(1000)
    browser.open(exported.directory / "games.html")
    moves = """[...document.querySelectorAll("table.games tbody tr:not([hidden])")].map(
      (row) => Number.parseFloat(row.cells[row.cells.length - 1].textContent.replace(",", ".")))"""
    everything = browser.ask(moves)
    status = "document.querySelector('.filter p').textContent"
    assert "" == browser.ask(status)

    for is_reversed in (False, True):
        browser.ask("[...document.querySelectorAll('.sort')].at(-1).click()")
        assert sorted(everything, reverse=is_reversed) == browser.ask(moves)
    agent = browser.ask("document.querySelector('table.games tbody a.agent').textContent")
    browser.ask(
        f"""(() => {{ const input = document.querySelector("[name=agent]"); input.value = {agent!r}.toUpperCase();
        input.dispatchEvent(new Event("input", {{bubbles: true}})); }})()"""
    )

    left = browser.ask(
        "[...document.querySelectorAll('table.games tbody tr:not([hidden])')].map((row) => row.textContent)"
    )
    assert 0 < len(left) < len(everything)
    assert all(agent in row for row in left)
    assert f"{len(left)} of {len(everything)} games" == browser.ask(status)


@pytest.mark.parametrize("language", LANGUAGES)
def test_times_of_games_have_a_unit_and_are_sorted(browser: Browser, exported: Public, language: str) -> None:
    browser.set_view(1000)
    browser.open(exported.directory / f"{language}games.html")
    last = "[...document.querySelectorAll('table.games tbody tr')].map((row) => row.cells[row.cells.length - 1])"
    times = f"{last}.map((cell) => cell.innerText)"
    unit = {"": "s", "cs/": "s", "zh/": "秒"}[language]

    assert all(time.endswith(f" {unit}") for time in browser.ask(times))
    browser.ask(f"(([cell]) => cell.textContent = '3:05')({last})")
    browser.ask("[...document.querySelectorAll('.sort')].at(-1).click()")
    *shorter, longest = browser.ask(times)
    seconds = [float(time.partition(" ")[0].replace(",", ".")) for time in shorter]
    assert sorted(seconds) == seconds
    assert "3:05" == longest
    assert len(set(seconds)) > 3


UNREACHABLE = """[...document.querySelectorAll("main .wide :is(td, th)")].filter((cell) => {
  const { left, right, width } = cell.getBoundingClientRect();
  const scroller = cell.closest(".wide");
  const room = scroller.scrollWidth - scroller.clientWidth;
  return width && (left < -1 || right - room > innerWidth + 1);
}).map((cell) => cell.textContent)"""


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("page", ["games", "agents/001", "pairs/001-002", "rounds/001", "games/00001"])
def test_lists_of_games_fit_on_a_phone(browser: Browser, exported: Public, page: str, scripts: bool) -> None:
    browser.set_view(390)
    with nullcontext() if scripts else browser.without_scripts():
        browser.open(exported.directory / f"{page}.html")
        assert [] == browser.ask(UNREACHABLE)
        tables = "[...document.querySelectorAll('table.games, table.seats')]"
        assert browser.ask(
            f"{tables}.length && {tables}.every((each) => each.parentNode.scrollWidth <= each.parentNode.clientWidth)"
        )
        # In each row no cell covers another one.
        assert browser.ask(
            f"""{tables}.flatMap((table) => [...table.rows]).every((row) => [...row.cells].every((one, at) =>
              [...row.cells].slice(at + 1).every((other) => {{
                const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
                return a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
              }})))"""
        )


def test_crosstable_on_a_phone_shows_that_it_scrolls(browser: Browser, exported: Public) -> None:
    browser.set_view(1280)
    browser.open(exported.directory / "crosstable.html")
    hint = "document.querySelector('.hint').checkVisibility()"
    assert not browser.ask(hint)
    browser.set_view(390)
    assert browser.ask(hint)
    assert [] == browser.ask(UNREACHABLE)
    # By keyboard, and each row keeps its agent.
    browser.ask("document.querySelector('.wide').focus()")
    browser.ask("document.querySelector('.wide').scrollLeft = 9999")
    last, agent = "td:last-child", "th[scope=row]"
    for cell in (last, agent):
        box = f"document.querySelector('tbody {cell}').getBoundingClientRect()"
        shown = f"(({{left, right}}) => left >= 0 && right <= innerWidth)({box})"
        assert browser.ask(shown), cell
    assert browser.ask("document.documentElement.scrollWidth") <= 390


def test_the_menu_is_one_line_on_a_phone(browser: Browser, exported: Public) -> None:
    browser.set_view(390)
    browser.open(exported.directory / "index.html")

    assert browser.ask("document.querySelector('.top').offsetHeight") < 100
    menu = "document.querySelector('.top nav')"
    assert browser.ask(f"{menu}.scrollWidth > {menu}.clientWidth")
    browser.press("Tab")
    assert "#main" == browser.ask("document.activeElement.getAttribute('href')")


def test_a_plot_shows_where_the_game_is_and_leads_there(browser: Browser, exported: Public) -> None:
    browser.set_view(1000)
    browser.open(exported.directory / "games/00001.html", "#3")

    assert ["evaluation", "depth", "time", "memory"] == browser.ask(
        "[...document.querySelectorAll('.plot')].map((plot) => plot.classList[1])"
    )
    assert ["M3 0v100"] * 4 == browser.ask("[...document.querySelectorAll('.cursor')].map((c) => c.getAttribute('d'))")
    browser.ask(
        """(() => {
          const plot = document.querySelector(".plot.depth"), {x, width} = plot.getBoundingClientRect();
          plot.dispatchEvent(new MouseEvent("click", {clientX: x + width * 5 / plot.viewBox.baseVal.width}));
        })()"""
    )
    assert "5" == browser.ask("document.querySelector('.film').dataset.now")


@pytest.mark.parametrize("width", [1280, 390])
def test_list_has_one_line_a_move_and_the_message_is_below(browser: Browser, exported: Public, width: int) -> None:
    rows = "document.querySelectorAll('.moves tbody tr')"
    browser.set_view(width)
    browser.open(exported.directory / "games/00001.html")
    browser.ask(f"{rows}[0].lastElementChild.textContent = 'depth 12 '.repeat(60)")
    browser.ask(f"{rows}[1].cells[2].textContent = 'h8 '.repeat(60)")
    heights = browser.ask(f"[...{rows}].map((row) => Math.round(row.getBoundingClientRect().height))")
    assert max(heights) <= 32, heights
    browser.press("Home")
    browser.press("ArrowRight")
    assert "depth 12 " * 60 == browser.ask("document.querySelector('.message').textContent")
    assert browser.ask("document.documentElement.scrollWidth") <= width


def test_without_scripts_the_last_position_and_all_moves_are_there(browser: Browser, exported: Public) -> None:
    browser.open(exported.directory / "games/00001.html")
    shown = browser.ask(SHOWN)
    with browser.without_scripts():
        browser.open(exported.directory / "games/00001.html")
        assert shown == browser.ask(SHOWN)
        assert "none" == browser.ask("getComputedStyle(document.querySelector('.controls')).display")
        assert browser.ask("document.querySelectorAll('.moves tbody tr').length") > 6


def test_injected_code_would_not_run(browser: Browser, exported: Public) -> None:
    """The policy is a second wall: a script in the page itself is refused."""
    page = (exported.directory / "verify.html").read_text()
    forged = exported.directory.parent / "forged.html"
    forged.write_text(page.replace("</h1>", "</h1><script>document.title = 'run'</script>"))
    browser.leave()
    browser.open(forged)

    assert "run" != browser.ask("document.title")
    assert any("Content Security Policy" in error for error in browser.errors)


COMPARED: dict[str, tuple[Cast, str]] = {
    "gauntlet": (STRONG_TO_WEAK, 'name = "gauntlet"\ngames = 12'),
    "sprt": (PAIR, 'name = "sprt"\ngames = 10\nrounds = 2\ntest = { elo0 = 0, elo1 = 2, model = "normalized" }'),
}


@pytest.mark.parametrize("form", [pytest.param("gauntlet", marks=evidence), "sprt"])
@pytest.mark.parametrize(("folder", "width", "dark"), VIEWS)
def test_axe_finds_nothing_wrong_where_agents_are_compared(
    browser: Browser, form: str, folder: str, width: int, dark: bool, tmp_path: Path
) -> None:
    cast, text = COMPARED[form]
    public = Recipe(form, cast, text, pages=PageOptions()).export(tmp_path)
    browser.set_view(width, dark)
    browser.open(public.directory / folder / "index.html")
    assert browser.ask("document.getElementById('compared') !== null")
    browser.check(width)
