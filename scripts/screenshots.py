"""Pictures of 14 pages at two widths, light and dark, for people to compare: `python -m scripts.screenshots [FOLDER]`.

Contests between house agents are played for it, which needs an Engine, the built house agents and a browser.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from scripts.browser import Browser, find_browser

ROOT = Path(__file__).parents[1]

AGENTS = ("house-strong", "house-renju", "house-python", "house-instant")

WIDTHS = {1280: 1500, 390: 1500}
"""Most height of a picture by width."""

QUALITY = 45

CUP = """
name = "spring"
about = "Two leagues of the club"

[[leagues]]
name = "standard"
policy = "gomocup-standard"
change = ["clock.turn_ms=300"]
format = { name = "round-robin" }
[[leagues]]
name = "fast"
policy = "gomocup-fastgame"
change = ["clock.turn_ms=200"]
format = { name = "round-robin" }
"""


def main(folder: Path) -> None:
    """Write the pictures as `PAGE-WIDTH-SCHEME.webp`."""
    program = find_browser()
    if program is None:
        sys.exit("there is no browser here; scripts/test installs one")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as profile:
        os.chdir(place)
        browser = Browser(program, Path(profile))
        album = _Album(browser, folder)
        try:
            _waiting(album)
            _club_cup(album)
            _ladder(album)
            _cup(album)
        finally:
            browser.close()


class _Album:
    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser = browser
        self._folder = folder

    def add(self, name: str, page: str | Path) -> None:
        """Photograph a page at each width and in each scheme."""
        for width, most_height in WIDTHS.items():
            for scheme in ("light", "dark"):
                self.browser.set_view(width, dark=scheme == "dark")
                if isinstance(page, Path):
                    self.browser.open(page)
                elif page:
                    self.browser.visit(page)
                path = self._folder / f"{name}-{width}-{scheme}.webp"
                path.write_bytes(self.browser.small_picture(most_height, QUALITY))
        print(name, flush=True)


def _waiting(album: _Album) -> None:
    """Before the start: the public page, and those of an author and of an organiser."""
    Path("authors.txt").write_text("Ada\nBert\n")
    with _port() as port:
        address = f"http://127.0.0.1:{port}"
        closes = ["--closes", "2031-01-01 18:00", "--authors", "authors.txt", "--url", address]
        _judge("contest", "init", "weekend", "--game", "gomoku", "--title", "Weekend Cup", *closes)
    links = dict(line.split(": ", 1) for line in Path("weekend/links.txt").read_text().splitlines() if ": " in line)
    with _serving("weekend", port, "--no-play"):
        album.add("before-the-start", f"{address}/index.html")
        for role, name in (("author", "Ada"), ("organiser", "organiser")):
            album.browser.visit(links[name])
            album.browser.wait_for("document.querySelector('form[action$=\"sign-out\"]')")
            album.add(role, f"{address}/{role}/index.html")


def _club_cup(album: _Album) -> None:
    """While it is played, and its export."""
    agents = _options("--agent", AGENTS)
    clocks = ["--games", "4", "--turn-ms", "1500"]
    _judge("contest", "init", "club", "--policy", "gomocup-freestyle-15", "--title", "Club Cup", *clocks, *agents)
    _judge("contest", "key", "club/organiser.key")
    with _port() as port:
        address = f"http://127.0.0.1:{port}"
    words, nowhere = _words("contest", "run", "club"), subprocess.DEVNULL
    playing = subprocess.Popen(words, stdout=nowhere, stderr=nowhere, env=_environment())
    try:
        while not Path("club/events.ndjson").exists() and playing.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                playing.wait(0.2)
        with _serving("club", port, "--read-only"):
            album.browser.set_view(1280)
            album.browser.visit(f"{address}/live.html")
            # A game in its middle, after some results.
            album.browser.wait_for("document.querySelectorAll('#ended li a').length > 2")
            album.browser.wait_for("document.querySelectorAll('article:not(.over) .pieces [data-at]').length > 7")
            album.add("live", f"{address}/live.html")
            album.browser.visit(f"{address}/live.html")
            album.browser.wait_for("document.querySelectorAll('article:not(.over) .pieces [data-at]').length > 5")
            album.add("game-being-played", album.browser.ask("document.querySelector('article:not(.over) h2 a').href"))
            playing.wait()
    finally:
        playing.terminate()
        playing.wait()
    _judge("contest", "export", "public", "club")
    pages = {
        "result": "index",
        "crosstable": "crosstable",
        "games": "games",
        "rounds": "rounds",
        "game": "games/00001",
        "agent": "agents/001",
        "verify": "verify",
    }
    for name, page in pages.items():
        album.add(name, Path("public").absolute() / f"{page}.html")


def _ladder(album: _Album) -> None:
    _judge(
        "contest", "init", "rungs", "--policy", "gomocup-fastgame", "--format", "ladder", "--title", "Club Ladder",
        "--turn-ms", "200", *_options("--agent", AGENTS),
    )  # fmt: skip
    path = Path("rungs/contest.toml")
    path.write_text(re.sub(r"(?m)^#? ?total_games = \d+", "total_games = 16", path.read_text()))
    _judge("contest", "key", "rungs/organiser.key")
    _judge("contest", "run", "rungs")
    _judge("contest", "export", "rungs-public", "rungs")
    album.add("ladder", Path("rungs-public/index.html").absolute())


def _cup(album: _Album) -> None:
    Path("spring").mkdir()
    entries = [f'[[entries]]\npath = "{agent}"\nleagues = ["standard", "fast"]' for agent in AGENTS[1:]]
    Path("spring/cup.toml").write_text("\n".join([CUP, *entries]))
    _judge("contest", "key", "spring/organiser.key")
    _judge("contest", "run", "spring")
    _judge("contest", "export", "spring-public", "spring")
    album.add("cup", Path("spring-public/index.html").absolute())


def _options(name: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (name, value)]


def _words(*words: str) -> list[str]:
    return [sys.executable, "-m", "judge.cli", *words]


def _environment() -> Mapping[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _judge(*words: str) -> None:
    done = subprocess.run(_words(*words), capture_output=True, text=True, env=_environment(), check=False)
    if done.returncode:
        sys.exit(f"judge {' '.join(words)}: {done.stdout}{done.stderr}")


@contextmanager
def _port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@contextmanager
def _serving(contest: str, port: int, *options: str) -> Iterator[None]:
    words = _words("serve", contest, "--listen", f"127.0.0.1:{port}", *options)
    with tempfile.TemporaryFile("w+") as log:
        service = subprocess.Popen(words, stderr=log, env=_environment())
        try:
            while "Application startup complete" not in Path(f"/proc/self/fd/{log.fileno()}").read_text():
                if service.poll() is not None:
                    sys.exit(f"judge serve has ended: {Path(f'/proc/self/fd/{log.fileno()}').read_text()}")
                with suppress(subprocess.TimeoutExpired):
                    service.wait(0.2)
            yield
        finally:
            service.terminate()
            service.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs/screenshots").absolute())
