"""The documentation: its commands work in order in an empty directory, and its lists, links and limits are current."""

import ast
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import docker
import pytest

from judge.agents.builds import KINDS, LANGUAGES_NOT_BUILT, SCRIPTS
from judge.agents.manifest import read_manifest
from judge.games.types import Verdict
from judge.host.house_agents import build_house_agents
from judge.record.policy import load_policy
from judge.submissions.check.suite import starter_text
from judge.submissions.intake import IntakePolicy
from scripts import reference_pages
from tests.examples import EVIDENCE
from tests.forked import run_line
from tests.golden.commands import all_commands
from tests.test_house import MAY_IMPORT, PARTS_OF_PUBLISH

ROOT = Path(__file__).resolve().parents[1]
ORGANISE = [f"docs/organise/{name}.md" for name in ("first-contest", "setup", "operate", "publish")]
SEQUENCES = [["docs/authors.md"], ORGANISE, ["docs/organise/cup.md"], ["docs/organise/ladder.md"], ["docs/new-game.md"]]
"""Pages whose commands are typed one page after the other in one directory."""

ELSEWHERE = {
    # Plays real attacks for minutes; tests/attacks and tests/cli/test_selftest.py do.
    "judge selftest --quick": "judge selftest --only C8",
    # One record, where a page means any.
    "judge show games/*.json": "judge show $(ls games/*.json | head -1)",
    # Runs until a signal; tests/web/live has its tests.
    "judge serve weekend &": "judge contest status weekend",
    # Into a directory of the test's, from nowhere else.
    ".venv/bin/pip install -e ./my-game": "pip install --no-deps --no-build-isolation --no-index -t site ./my-game",
}
"""What is typed in place of a command."""

SHORTER = {
    # Agents that do not look for rows fill the board.
    'change = ["clock.turn_ms=300"]': 'change = ["clock.turn_ms=300", "game.options.draw_at=40"]',
    'policy = "gomocup-standard:fast"\nformat': (
        'policy = "gomocup-standard:fast"\nchange = ["game.options.draw_at=40"]\nformat'
    ),
    "--seed 1 --out games": "--seed 1 --set game.options.draw_at=40 --out games",
    "--policy agi-renju --out": "--policy agi-renju --set game.options.draw_at=20 --out",
    "--turn-ms 300": "--turn-ms 100 --games 1",
    "--set clock.turn_ms=300 --agent house-python": "--set clock.turn_ms=300 --games 1 --agent house-python",
    'format = { name = "round-robin" }': 'format = { name = "round-robin", games = 1 }',
    "--format ladder --set clock.turn_ms=300": "--format ladder --set clock.turn_ms=100 --set game.options.draw_at=10",
}
"""What is typed in place of parts of commands."""

ADDED = {"score"}
"""Commands of examples/plug-in, which tests/test_examples.py runs."""

MAY_FAIL = {"judge doctor"}
"""Exits with 1 on a host that lacks something, and says what."""


def commands(page: str) -> list[str]:
    """The lines of a page's shell blocks; a file in the block belongs to its command."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in re.findall(r".*<<'END'\n(?s:.*?)\nEND$|.+", block, re.MULTILINE)]


def documents() -> list[str]:
    paths = [*ROOT.glob("*.md"), *(path for name in ("docs", "examples") for path in ROOT.glob(f"{name}/**/*.md"))]
    paths.append(ROOT / "changelog.d/README.md")
    return sorted(str(path.relative_to(ROOT)) for path in paths)


@pytest.fixture
def no_image_left() -> Iterator[None]:
    """What a page has its reader build is gone again."""
    yield
    with closing(docker.from_env()) as client, suppress(docker.errors.ImageNotFound):
        client.images.remove("local/python:1", force=True)


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.usefixtures("no_image_left")
@pytest.mark.parametrize("pages", SEQUENCES, ids=lambda pages: Path(pages[0]).stem)
def test_every_command_of_the_pages_works(pages: list[str], tmp_path: Path) -> None:
    build_house_agents()
    for name in ("images", "policies", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    path = f"{Path(sys.executable).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    engine = {key: os.environ[key] for key in ("DOCKER_HOST", "JUDGE_LOCKS", "TMPDIR") if key in os.environ}
    for page in pages:
        assert commands(page), page
    lines = [line for page in pages for line in commands(page)]
    checks = [line for line in lines if line.startswith("judge check ")]
    left_out = () if EVIDENCE else checks[1:]  # tests/starters has every starter checked
    for line in [line for line in lines if line not in left_out]:
        environment = {"PATH": path, "HOME": str(tmp_path), "PYTHONPATH": f"{ROOT}:{tmp_path}/site", **engine}
        done = run_line(as_typed(line), tmp_path, environment)
        assert done.returncode == 0 or line in MAY_FAIL, f"{line}\n{done.stdout}\n{done.stderr}"


def as_typed(line: str) -> str:
    """The command in place of a page's. The full lane also shortens games, and exports pages in one language."""
    line = ELSEWHERE.get(line, line)
    if EVIDENCE:
        return line
    for part, shorter in SHORTER.items():
        line = line.replace(part, shorter)
    is_of_pages = re.match("judge (contest|cup) export ", line) and "--as" not in line
    return f"{line} --language en" if is_of_pages else line


@cache
def options_of_commands() -> dict[str, set[str]]:
    """The options of each command and group, by its path."""
    return {
        context.command_path: {
            name for each in context.command.get_params(context) for name in (*each.opts, *each.secondary_opts)
        }
        for context in all_commands()
    }


@pytest.mark.parametrize("page", documents())
def test_every_shown_command_exists_with_its_options(page: str) -> None:
    """In all blocks, also in those that are not typed."""
    options = options_of_commands()
    for block in re.findall(r"^ *```\w*\n(.*?)^ *```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE):
        for line in re.findall(r"^ *(?:\$ )?(judge .*)", block.replace("\\\n", " "), re.MULTILINE):
            path, words = "judge", shlex.split(line.partition("  ")[0], comments=True)[1:]
            if words[0] in ADDED:
                continue
            while words and f"{path} {words[0]}" in options:
                path = f"{path} {words.pop(0)}"
            is_group = any(each.startswith(f"{path} ") for each in options)
            assert not is_group or all(word.startswith("-") for word in words), line
            assert options[path] >= {word.partition("=")[0] for word in words if re.match("--?[a-z]", word)}, line


def test_page_on_new_games_shows_the_actual_package() -> None:
    package = ROOT / "tests/plugins/connect_four"
    files = [path.read_text() for path in package.rglob("*") if path.suffix in (".py", ".toml")]
    text = (ROOT / "docs/new-game.md").read_text()
    pieces = re.findall(r"^```(?:python|toml)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)

    assert pieces
    for piece in pieces:
        assert any(piece in file for file in files), piece


def test_authors_page_states_the_enforced_limits() -> None:
    text = (ROOT / "docs/authors.md").read_text()
    policy = load_policy("gomocup-standard")
    limits, folders = policy.enforced(), policy.folders

    assert f"usually up to {IntakePolicy().limits.upload_bytes >> 20} MiB" in text
    assert f"{limits.memory_bytes >> 20} MiB, sent as `INFO max_memory`" in text
    assert f"`/tmp` has {limits.scratch_bytes >> 20} MiB" in text
    assert f"One core, {limits.processes} processes and threads" in text
    for size, count in (
        (folders.temporary_bytes, folders.temporary_inodes),
        (folders.persistent_bytes, folders.persistent_inodes),
    ):
        assert f"at most {size >> 20} MiB and {count:,} files" in text
    clock, fast = policy.clock, load_policy("gomocup-standard:fast").clock
    assert f"{clock.turn_ms // 1000} s a move and {clock.match_ms // 1000} s a game" in text
    assert f"({fast.turn_ms // 1000} s and {fast.match_ms // 1000} s in `:fast`)" in text
    assert f"{load_policy('stratego-2012').clock.turn_ms // 1000} s a half-move of Stratego" in text
    assert f"{load_policy('qchess-2013').clock.turn_ms // 1000} s an" in text


def test_authors_page_replaces_all_text_of_the_starter(tmp_path: Path) -> None:
    (tmp_path / "images").symlink_to(ROOT / "images")
    for line in commands("docs/authors.md")[:3]:
        assert 0 == run_line(line, tmp_path, {"PATH": os.environ["PATH"]}).returncode, line

    about = re.findall(
        r'(\w+)="(.*?)"', re.findall(r"^ABOUT = .*$", (tmp_path / "mine/starter.py").read_text(), re.MULTILINE)[0]
    )
    assert "mine" == dict(about)["name"]
    assert [] == starter_text(read_manifest(tmp_path / "mine" / "agent.toml"), dict(about))


def test_authors_page_explains_each_verdict() -> None:
    section = (
        (ROOT / "docs/authors.md").read_text().partition("\n## 4. What each verdict means\n")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)

    assert set(Verdict) == {word for row in rows for word in re.findall(r"`(.*?)`", row)}


def test_page_on_proxies_shows_the_nginx_of_the_containers() -> None:
    page, shown = ROOT / "docs/serve-behind-a-proxy.md", ROOT / "examples/compose/nginx.conf"

    assert f"```nginx\n{shown.read_text()}```\n" in page.read_text()


def test_index_and_site_list_each_page() -> None:
    listed = re.findall(r"^\| \[(.*?)\]", (ROOT / "docs/index.md").read_text(), re.MULTILINE)
    navigation = re.findall(r"^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")]

    assert navigation == ["index.md", *listed]
    assert set(navigation) == {page for page in pages if not re.match(r"decisions/\d", page)}


def test_a_language_page_has_each_build_command() -> None:
    text = " ".join(path.read_text() for path in (ROOT / "docs/languages").glob("*.md"))

    for kind, names in KINDS.items():
        program = re.findall(r"\b(?:try|run|mvn=\()\s*([a-z]+\d?)", (SCRIPTS / kind).read_text())
        for word in [*program[:1], *names]:
            assert word in text, f"{kind}: {word}"
    for name in LANGUAGES_NOT_BUILT:
        assert name in text


def test_index_of_decisions_lists_every_page_with_its_title() -> None:
    folder = ROOT / "docs/decisions"
    rows = re.findall(r"^\| \[(\d{4})\]\((.+?)\) \| (.+?) \|$", (folder / "README.md").read_text(), re.MULTILINE)
    pages = sorted(folder.glob("[0-9]*.md"))

    titles = [page.read_text().partition("\n")[0].partition(". ")[2] for page in pages]
    assert rows == [(page.name[:4], page.name, title) for page, title in zip(pages, titles, strict=True)]
    for page in pages:
        for code in re.findall(r"Code: (.+?)\.(?: Documentation|\n\n)", page.read_text(), re.DOTALL):
            assert [] == [path for path in re.findall(r"`(.+?)`", code) if not (ROOT / path).exists()], page


def test_reference_pages_are_current() -> None:
    for name, text in reference_pages.pages().items():
        assert (ROOT / "docs" / name).read_text() == text, "run .venv/bin/python scripts/reference_pages.py"


@pytest.mark.parametrize("page", documents())
def test_every_link_leads_to_an_existing_file_and_heading(page: str) -> None:
    text = re.sub(r"^( *)```.*?^\1```", "", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    for name, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)", text):
        target = (ROOT / page).parent / name if name else ROOT / page
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"


def test_architecture_page_lists_each_package() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    rows = re.findall(r"^\| `([a-z_]+)` \|", text, re.MULTILINE)

    assert len(set(rows)) == len(rows)
    assert set(rows) == set(MAY_IMPORT) - PARTS_OF_PUBLISH


def test_architecture_page_names_existing_code() -> None:
    """Files, modules, classes, functions and constants, also those of its diagrams."""
    text = (ROOT / "docs/architecture.md").read_text()
    diagrams = "\n".join(re.findall(r"^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    words = {*re.findall(r"`([\w./]+)`", text), *re.findall(r"[a-z_]+(?:\.\w+)+|\b[A-Z][a-z]\w*", diagrams)}
    members = {word for word in words if re.fullmatch(r"[A-Z_]\w+\.\w+", word)}
    files = {word for word in words if "/" in word}
    modules = {word for word in words - members - files if "." in word and not word.endswith(".toml")}
    names = {word for word in words - members - files - modules if "." not in word}

    assert [] == [file for file in sorted(files) if not (ROOT / file).exists() and not (ROOT / "judge" / file).exists()]
    assert [] == [name for name in sorted(modules) if not is_in_judge(name)]
    assert set() == members - members_of_classes({member.partition(".")[0] for member in members})
    assert set() == names - defined_in_judge(names)
    assert min(len(files), len(modules), len(members), len(names)) > 10


def is_in_judge(name: str) -> bool:
    """Whether `package.module`, or `package.module.name`, is in the folder judge."""
    place, rest = ROOT / "judge", name.split(".")
    while rest and (place / rest[0]).is_dir():
        place /= rest.pop(0)
    if not rest:
        return True
    module = place / f"{rest.pop(0)}.py"
    return module.is_file() and all(definition([part]).search(module.read_text()) for part in rest)


def definition(names: Iterable[str]) -> re.Pattern[str]:
    """Matches where a class, function, method, field or constant of one of these names is defined."""
    return re.compile(rf"^ *(?:(?:class|(?:async )?def) ({'|'.join(names)})\b|({'|'.join(names)})\b.*=)", re.MULTILINE)


def defined_in_judge(names: set[str]) -> set[str]:
    """Those of the names that are packages, modules, or defined in a module of judge."""
    paths = [path.relative_to(ROOT / "judge") for path in ROOT.glob("judge/**/*.py")]
    found = {part for path in paths for part in path.with_suffix("").parts}
    pattern = definition(sorted(names))
    for path in paths:
        found |= {name for pair in pattern.findall((ROOT / "judge" / path).read_text()) for name in pair}
    return found


def members_of_classes(names: set[str]) -> set[str]:
    """`Class.member` of the classes of judge with these names: methods, fields, constants."""
    defined = re.compile(rf"^ *class ({'|'.join(names)})\b", re.MULTILINE)
    members = [
        (each.name, node)
        for text in (path.read_text() for path in ROOT.glob("judge/**/*.py"))
        if defined.search(text)
        for each in ast.walk(ast.parse(text))
        if isinstance(each, ast.ClassDef)
        for node in each.body
    ]
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    methods = {f"{name}.{node.name}" for name, node in members if isinstance(node, functions)}
    fields = {f"{name}.{ast.unparse(node.target)}" for name, node in members if isinstance(node, ast.AnnAssign)}
    constants = {f"{name}.{ast.unparse(node.targets[0])}" for name, node in members if isinstance(node, ast.Assign)}
    return methods | fields | constants


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site name them."""
    text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


PAGE = ROOT / "docs/api.md"
ROWS = re.findall(r"^\| `(judge[a-z._]*)` \| (\w+) \| (.+?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

PLUGINS = [
    *(path.parent for path in sorted(ROOT.glob("plugins/*/judge_*/__init__.py"))),
    ROOT / "tests/plugins/connect_four/connect_four",
]
"""The packages of games and protocols in this repository."""


def test_page_lists_each_module_once_with_its_stability() -> None:
    modules = [module for module, _, _ in ROWS]

    assert len(modules) == len(set(modules))
    assert {level for _, level, _ in ROWS} == {"stable", "provisional"}


def test_listed_names_exist() -> None:
    for module, _, names in ROWS:
        found = import_module(module)
        for name in re.findall(r"`(\w+)`", names):
            assert hasattr(found, name), f"{module}.{name}"


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_plugin_imports_existing_names_of_listed_modules(plugin: Path) -> None:
    trees = [ast.parse(path.read_text()) for path in plugin.rglob("*.py")]
    imports = {
        (node.module, alias.name)
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "judge"
        for alias in node.names
    }

    assert imports
    assert set() == {module for module, _ in imports} - {module for module, _, _ in ROWS}
    assert [] == [(module, name) for module, name in imports if not hasattr(import_module(module), name)]
