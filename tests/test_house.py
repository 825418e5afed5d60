"""Structure of the code: imports point one way, compilers warn of nothing, nothing mentions where it was written."""

import ast
import keyword
import re
import shutil
import subprocess
import tokenize
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

from judge import DISTRIBUTION
from judge.base.resources import IMAGES
from judge.catalog import GAMES, game_entry
from judge.protocols import PROTOCOLS

ROOT = Path(__file__).parents[1]

MAY_IMPORT_TABLE = """
base:
translations:
games: base
sandbox: base
journal: base translations
host: base sandbox
protocols: base games
record: base games sandbox protocols
referee: base games sandbox protocols record
play: base games sandbox protocols record referee
agents: base games sandbox host protocols record
formats: base games record referee
testing: base games sandbox protocols record referee
catalog: base games record formats
contest_games: games record
render: base formats
broadcast: base games protocols record referee formats catalog
statistics: base contest_games
store: base games contest_games journal
notices: base store
transparency: base journal store
submissions: base journal games sandbox protocols record referee play agents catalog store notices
tournament: base journal games record catalog contest_games statistics transparency
contest_view: base journal games record formats contest_games statistics store tournament
contest: base journal games sandbox host record referee play agents formats catalog contest_games broadcast statistics
  store transparency submissions tournament contest_view
cluster: base journal sandbox host record referee play agents contest_games broadcast store contest_view contest
publish: base journal games record formats contest_games statistics store transparency tournament contest_view contest
terminal: base games sandbox protocols record referee agents formats catalog contest_games broadcast statistics
  submissions tournament contest_view contest
attacks: base games sandbox host record referee play agents catalog
site: base journal translations games record referee formats catalog contest_games render statistics store tournament
  publish contest_view
publish.verify: base journal games sandbox record referee contest_games statistics store transparency tournament
  contest_view contest publish
publish.export: base translations record referee formats catalog contest_games statistics transparency contest_view
  contest publish site
cup: base journal translations host record agents contest_games transparency submissions tournament contest_view
  contest publish site publish.verify publish.export
web: base journal translations sandbox host record referee formats catalog contest_games render broadcast statistics
  store notices transparency submissions tournament contest_view contest publish site publish.export cup
api: base journal games host protocols record referee play agents formats catalog contest_games sandbox statistics
  tournament transparency submissions contest_view contest cluster publish publish.export
cli: api base journal translations games sandbox host record referee play agents formats catalog contest_games render
  broadcast statistics store transparency submissions tournament contest_view contest cluster publish terminal attacks
  site publish.verify publish.export cup web
"""
"""For each package the packages that it may import."""

MAY_IMPORT = {
    name: {*names.split()} for name, names in re.findall(r"^([\w.]+):((?:.|\n )*)$", MAY_IMPORT_TABLE, re.MULTILINE)
}


def modules() -> list[Path]:
    return sorted((ROOT / "judge").rglob("*.py"))


def modules_with(words: Iterable[str]) -> list[Path]:
    """The modules with one of these words somewhere; to parse the others takes seconds."""
    has_one = re.compile("|".join(map(re.escape, words)))
    return [path for path in modules() if has_one.search(path.read_text())]


@cache
def module_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


PARTS_OF_PUBLISH = {"publish.export", "publish.verify"}
"""They stand above `site`, and have borders of their own."""


def package_name(names: Sequence[str]) -> str:
    """Of a module below `judge`: its first name, or a part of `publish`."""
    part = ".".join(names[:2])
    return part if part in PARTS_OF_PUBLISH else names[0]


def package_of(path: Path) -> str:
    return package_name(path.relative_to(ROOT / "judge").with_suffix("").parts)


def imported_packages(path: Path) -> set[str]:
    return {package_name(name.split(".")[1:]) for name in imported_names(path) if name.startswith("judge.")}


def test_a_package_imports_only_packages_below_it() -> None:
    packages = {path: package_of(path) for path in modules() if package_of(path) != "__init__"}
    too_many = {path: imported_packages(path) - {package, *MAY_IMPORT[package]} for path, package in packages.items()}

    assert {} == {path: names for path, names in too_many.items() if names}
    assert not any("testing" in packages for packages in MAY_IMPORT.values()), "it is for tests alone"


def imported_names(path: Path) -> set[str]:
    """The modules that a module imports, as the statements write them."""
    tree = module_tree(path)
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    return names | {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}


def modules_in(folder: str) -> list[Path]:
    return sorted((ROOT / "judge" / folder).rglob("*.py"))


OPERATING_SYSTEM = {"io", "os", "pathlib", "select", "socket", "subprocess", "threading", "time"}


def test_rules_and_protocols_do_no_io() -> None:
    base = ROOT / "judge/base"
    for path in [*modules_in("games"), *modules_in("protocols"), base / "text.py", base / "parsing.py"]:
        assert set() == imported_names(path) & (OPERATING_SYSTEM | {"random"}), path


def test_tournament_uses_no_store_no_sandbox_and_no_operating_system() -> None:
    """The same snapshot, pairings and results give the same schedule and the same standings, also in a verifier."""
    for path in [*modules_in("tournament"), ROOT / "judge/contest_games.py", *modules_in("statistics")]:
        names = imported_names(path)
        assert set() == names & (OPERATING_SYSTEM | {"datetime", "random", "sqlalchemy"}), path
        assert not {name for name in names if name.startswith(("judge.store", "judge.sandbox", "judge.agents"))}, path


BORDERS = {
    "sandbox/machine": ("judge.sandbox.docker", "judge.sandbox.process", "judge.sandbox.host_activity"),
    "sandbox/host_activity": ("judge.sandbox.docker", "judge.sandbox.process"),
    "sandbox/process": ("judge.sandbox.docker",),
    "web/kit": ("judge.web.intake", "judge.web.authors", "judge.web.organisers", "judge.web.live"),
    "web/player": ("judge.web.intake", "judge.web.authors", "judge.web.organisers", "judge.web.live"),
    "web/intake": ("judge.web.authors", "judge.web.organisers", "judge.web.live"),
    "web/authors": ("judge.web.organisers", "judge.web.live"),
    "web/organisers": ("judge.web.live",),
}
"""Packages inside a package, and the neighbours that they do not import."""


@pytest.mark.parametrize("folder", sorted(BORDERS))
def test_a_package_inside_a_package_does_not_import_these_neighbours(folder: str) -> None:
    for path in modules_in(folder):
        assert not {name for name in imported_names(path) if name.startswith(BORDERS[folder])}, path


def test_the_answers_of_the_intake_need_no_web_extra() -> None:
    """`judge submit --url` reads them."""
    names = imported_names(ROOT / "judge/web/schemas.py")
    assert not {name for name in names if name.startswith(("fastapi", "starlette", "uvicorn", "judge.web"))}


def test_the_referee_names_no_game_and_no_protocol() -> None:
    text = (ROOT / "judge/referee/referee.py").read_text().lower()

    for word in ("gomoku", "gomocup", "stratego", "chess", "renju", "agi"):
        assert f" {word}" not in text


def test_verdicts_on_agents_and_voids_come_from_the_blame_table_and_the_games() -> None:
    """Elsewhere one is only made again from what a record or a log says."""
    makers: dict[str, set[str]] = {"Void": set(), "AgentFault": set()}
    for path in modules_with(f"{name}(" for name in makers):
        for node in ast.walk(module_tree(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                if name in makers:
                    is_game = package_of(path) == "games"
                    makers[name].add("games" if is_game else str(path.relative_to(ROOT / "judge")))

    assert makers == {
        "Void": {"referee/blame.py"},
        "AgentFault": {"games", "referee/blame.py", "formats/quantum_chess/log.py", "formats/stratego/log.py"},
    }


OF_ONE_GAME = {"games", "protocols", "catalog", "attacks"}
"""Rooms that may name a game or a protocol: their own code, their entries, and programs that play one on purpose."""

NOT_ONLY_A_PROTOCOL = {"person"}
"""The name of a protocol that is also a kind of box."""


def test_a_game_or_protocol_is_named_by_its_entry_alone() -> None:
    """The rest of the judge finds it in what is registered, so that a stranger's is treated as ours."""
    names = {*GAMES.names(), *PROTOCOLS.names()} - NOT_ONLY_A_PROTOCOL
    named = {
        (path, node.value)
        for path in modules_with(names)
        if package_of(path) not in OF_ONE_GAME and not path.match("judge/formats/*/*")
        for node in ast.walk(module_tree(path))
        if isinstance(node, ast.Constant) and node.value in names
    }

    assert set() == named


def test_the_registered_names_are_those_of_pyproject() -> None:
    """An installation that is older than pyproject.toml would test other games than these."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = document["project"]["entry-points"]

    assert DISTRIBUTION == document["project"]["name"]
    assert sorted(groups["judge.games"]) == GAMES.names()
    assert sorted(groups["judge.protocols"]) == PROTOCOLS.names()


@pytest.mark.parametrize("name", GAMES.names())
def test_entry_has_its_registered_name(name: str) -> None:
    entry = game_entry(name)

    assert name == entry.name
    assert entry.protocol in PROTOCOLS.names()


def imported_modules(path: Path, names: set[str]) -> set[str]:
    """The modules of the judge that a module imports, also in its functions."""
    found = set()
    for node in ast.walk(module_tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & names) | ({node.module} if inner - names else set())
    return found & names


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports in functions count: they only hide a circle."""
    of_path = {
        path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in modules()
    }
    names = set(of_path.values())
    left = {name: imported_modules(path, names) - {name} for path, name in of_path.items()}
    # Modules that import none of those that are left are in no circle, nor are those that none of them imports.
    while free := {name for name, imports in left.items() if not imports & left.keys()}:
        left = {name: imports for name, imports in left.items() if name not in free}
    while free := left.keys() - {each for imports in left.values() for each in imports}:
        left = {name: imports for name, imports in left.items() if name not in free}

    assert {} == {name: sorted(imports & left.keys()) for name, imports in sorted(left.items())}


def test_a_class_that_extends_a_compiled_class_is_compiled() -> None:
    """mypyc refuses an interpreted subclass when it is instantiated."""
    text = (ROOT / "scripts/compiled_modules.py").read_text()
    compiled = {f"judge.{name.replace('/', '.')}" for name in re.findall(r'^    "([a-z_/]+)",$', text, re.MULTILINE)}
    interpreted = []
    for path in modules_with(compiled):
        tree = module_tree(path)
        if ".".join(path.relative_to(ROOT).with_suffix("").parts) in compiled:
            continue
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module in compiled]
        bases = {alias.asname or alias.name for node in imports for alias in node.names}
        interpreted += [
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and bases & {ast.unparse(base) for base in node.bases}
        ]

    assert compiled
    assert [] == interpreted


SOURCES = ("judge", "tests", "plugins", "scripts", "images")

VAGUE_NAMES = {"told", "came", "within", "look", "held", "own"}
"""A noun for a value, and a verb and its object for a function, replace them."""


def test_no_name_in_the_code_is_vague() -> None:
    # In code the only words after a name are keywords, in prose there are others; to tokenize all files takes seconds.
    may_have_one = re.compile(rf"\b({'|'.join(VAGUE_NAMES)})\b(?! +(?!({'|'.join(keyword.kwlist)})\b)\w)")
    found = []
    for path in sorted(path for folder in SOURCES for path in (ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT)
        if "build" in name.parts or not may_have_one.search(path.read_text()):
            continue
        with path.open("rb") as file:
            tokens = [token for token in tokenize.tokenize(file.readline) if token.type == tokenize.NAME]
        found += [f"{name}:{token.start[0]}: {token.string}" for token in tokens if token.string in VAGUE_NAMES]

    assert not found, "\n".join(["rename (a noun for a value, a verb and its object for a function):", *found])


OUR_DATA = {"docs/screenshots", "tests/conformance/data", "tests/corpus/data"}
"""Binary files that this project made, or directories of such."""


def test_no_file_is_an_archive_or_a_program_of_others() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout of git")
    binary = [
        name for name in listed.stdout.split("\0") if (ROOT / name).is_file() and b"\0" in (ROOT / name).read_bytes()
    ]

    assert [] == [name for name in binary if OUR_DATA.isdisjoint((name, str(Path(name).parent)))]


GCC = ("gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")
JAVAC = ("javac", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "--release", "11", "-Xlint:all", "-Werror", "-d")
"""It starts sooner with a simpler Java machine."""


def folders_with(ending: str) -> list[Path]:
    return sorted({path.parent for path in IMAGES.rglob(f"*{ending}")})


def complaints(command: list[str], folder: Path, ending: str) -> tuple[int, str]:
    files = sorted(path.name for path in folder.glob(f"*{ending}"))
    done = subprocess.run([*command, *files], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("folder", folders_with(".c"), ids=lambda folder: folder.name)
def test_gcc_warns_of_nothing(folder: Path) -> None:
    assert (0, "") == complaints([*GCC], folder, ".c")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no javac here")
@pytest.mark.parametrize("folder", folders_with(".java"), ids=lambda folder: folder.name)
def test_javac_warns_of_nothing(folder: Path, tmp_path: Path) -> None:
    assert (0, "") == complaints([*JAVAC, str(tmp_path)], folder, ".java")
