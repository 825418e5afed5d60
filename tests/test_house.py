"""The house: imports point one way, and nothing speaks of where it was written."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from judge.catalog import GAMES, game_entry
from judge.protocols import PROTOCOLS

ROOT = Path(__file__).parents[1]

MAY_IMPORT = {
    "errors": set(),
    "text": set(),
    "parsing": {"errors", "text"},
    "toml_files": {"errors", "parsing", "text"},
    "durable_files": {"errors"},
    "resources": set(),
    "locks": set(),
    "scheduling": set(),
    "logs": set(),
    "garbage": set(),
    "worker_processes": {"garbage"},
    "tree_tar": set(),
    "bookkeeping": set(),
    "translations": set(),
    "transparency": {"errors", "parsing"},
    "registry": {"errors", "text"},
    "games": {"errors", "parsing", "registry", "text"},
    "protocols": {"errors", "parsing", "registry", "text", "games"},
    "sandbox": {"errors", "parsing", "resources", "text", "locks", "logs", "toml_files"},
    "host": {"errors", "resources", "sandbox"},
    "referee": {
        "scheduling", "errors", "garbage", "logs", "toml_files", "resources", "text", "parsing", "durable_files",
        "games", "protocols", "sandbox",
    },
    "records": {"errors", "parsing", "text", "durable_files", "games", "referee"},
    "catalog": {"errors", "text", "durable_files", "registry", "games", "referee", "records"},
    "broadcast": {
        "errors", "text", "durable_files", "locks", "logs", "games", "protocols", "referee", "records", "catalog",
    },
    "render": {"errors", "text", "records"},
    "matches": {"games", "records"},
    "statistics": {"errors", "matches"},
    "store": {"errors", "text", "durable_files", "locks", "games", "matches"},
    "testing": {"errors", "games", "protocols", "sandbox", "referee"},
    "agents": {
        "errors", "logs", "parsing", "resources", "text", "durable_files", "locks", "games", "protocols", "sandbox",
        "referee", "tree_tar", "host", "toml_files", "bookkeeping",
    },
    "notices": {"errors", "locks", "logs", "store", "text"},
    "submissions": {
        "errors", "text", "locks", "games", "protocols", "sandbox", "referee", "catalog", "store", "agents", "tree_tar",
        "notices", "bookkeeping",
    },
    "contest": {
        "scheduling", "errors", "garbage", "toml_files", "text", "parsing", "durable_files", "locks", "logs",
        "worker_processes", "games", "sandbox", "referee", "catalog", "store", "agents", "submissions", "host",
        "matches", "statistics", "broadcast", "records", "transparency",
    },
    "cluster": {
        "errors", "resources", "text", "parsing", "durable_files", "locks", "logs", "worker_processes", "sandbox",
        "referee", "store", "agents", "contest", "matches", "host", "broadcast",
    },
    "publish": {
        "errors", "locks", "logs", "catalog", "parsing", "durable_files", "text", "worker_processes", "games",
        "sandbox", "referee", "records", "render", "store", "contest", "matches", "translations", "statistics",
        "transparency",
    },
    "intake": {
        "scheduling", "errors", "parsing", "durable_files", "logs", "worker_processes", "matches", "notices", "store",
        "submissions", "contest", "publish", "transparency",
    },
    "authors": {
        "text", "catalog", "records", "referee", "matches", "store", "submissions", "publish", "intake", "translations",
        "errors", "notices", "contest",
    },
    "organisers": {
        "errors", "logs", "worker_processes", "tree_tar", "matches", "store", "host", "sandbox", "submissions",
        "contest", "publish", "intake", "authors",
    },
    "live": {
        "scheduling", "errors", "text", "logs", "durable_files", "catalog", "records", "referee", "render", "broadcast",
        "contest", "store", "submissions", "publish", "intake", "translations", "authors", "organisers", "matches",
        "statistics",
    },
    "attacks": {"errors", "durable_files", "resources", "games", "sandbox", "host", "referee", "catalog", "agents"},
    "cli": {
        "scheduling", "errors", "garbage", "resources", "durable_files", "locks", "logs", "games", "protocols",
        "sandbox", "host", "referee", "records", "catalog", "render", "store", "agents", "submissions", "contest",
        "cluster", "publish", "intake", "attacks", "text", "parsing", "matches", "statistics", "translations",
        "broadcast", "live", "toml_files", "transparency",
    },
}  # fmt: skip
"""For each room the rooms that it imports: no more, and no fewer."""


def modules() -> list[Path]:
    return sorted((ROOT / "judge").rglob("*.py"))


@cache
def module_tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def room_of(path: Path) -> str:
    return path.relative_to(ROOT / "judge").parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> Iterator[str]:
    for node in ast.walk(module_tree(path)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            parts = name.split(".")
            if parts[0] == "judge" and len(parts) > 1:
                yield parts[1]


def test_a_room_knows_only_the_rooms_below_it() -> None:
    rooms = {path: room_of(path) for path in modules() if room_of(path) != "__init__"}
    too_many = {path: set(imported_rooms(path)) - {room, *MAY_IMPORT[room]} for path, room in rooms.items()}

    assert {} == {path: names for path, names in too_many.items() if names}


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_a_room_imports_every_room_that_it_may(room: str) -> None:
    imported = {name for path in modules() if room_of(path) == room for name in imported_rooms(path)}

    assert imported - {room} == MAY_IMPORT[room]


def test_nothing_imports_what_is_there_for_tests() -> None:
    assert [] == [room for room, rooms in MAY_IMPORT.items() if "testing" in rooms]


def test_no_rooms_import_each_other_in_a_circle() -> None:
    below: set[str] = set()
    while free := {room for room, rooms in MAY_IMPORT.items() if rooms <= below} - below:
        below |= free

    assert set(MAY_IMPORT) == below


def test_each_of_these_has_one_home() -> None:
    """What is easily written again where it is needed, slightly different each time."""
    homes = {
        "fcntl.flock": "locks",
        "os.fsync": "durable_files",
        "import gc": "garbage",
        "import structlog": "logs",
        "ProcessPoolExecutor": "worker_processes",
        "isprintable(": "text",
        ".errors()[": "parsing",
        "get_close_matches": "text",
    }
    for word, home in homes.items():
        rooms = [path for path in modules() if word in path.read_text()]
        assert [ROOT / f"judge/{home}.py"] == rooms, word


def test_rules_protocols_and_what_they_need_do_no_io() -> None:
    """Rules and protocols know no pipe, clock, file or process."""
    doors = {"os", "socket", "subprocess", "time", "select", "pathlib", "threading", "random", "io"}
    for path in modules():
        if room_of(path) in ("games", "protocols", "text", "parsing"):
            tree = module_tree(path)
            names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
            names |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
            assert set() == names & doors, path


RULES_OF_CONTESTS = (
    "seeds", "crosstable", "folder_order", "pairings", "points", "results", "schedule", "standings",
)  # fmt: skip


def test_the_rules_of_contests_know_no_store_no_system_and_no_clock() -> None:
    """Same document, pairings and results, same schedule and same table: anywhere, and in `judge contest verify`."""
    doors = {"datetime", "io", "os", "pathlib", "random", "socket", "sqlalchemy", "subprocess", "threading", "time"}
    contest = ROOT / "judge/contest"
    paths = [contest / f"{name}.py" for name in RULES_OF_CONTESTS] + sorted((contest / "formats").glob("*.py"))
    for path in [*paths, ROOT / "judge/matches.py", *sorted((ROOT / "judge/statistics").glob("*.py"))]:
        tree = module_tree(path)
        names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        names |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        assert set() == names & doors, path
        rules = {f"judge.contest.{name}" for name in RULES_OF_CONTESTS}
        others = {name for name in names if name.startswith("judge.contest.") and name not in rules}
        assert others <= RULES_MAY_IMPORT | {name for name in others if name.startswith("judge.contest.formats")}, path
        assert not {name for name in names if name.startswith(("judge.store", "judge.sandbox", "judge.agents"))}, path


RULES_MAY_IMPORT = {"judge.contest.openings", "judge.contest.snapshot"}
"""Of the rest of the room they know the order of openings and the document that a contest was begun with."""


def test_the_referee_names_no_game_and_no_protocol() -> None:
    """What carries every game may know none of them."""
    text = (ROOT / "judge/referee/match.py").read_text().lower()

    for word in ("gomoku", "gomocup", "stratego", "chess", "renju", "agi"):
        assert f" {word}" not in text


def test_verdicts_on_agents_and_voids_come_from_the_blame_table_and_the_games() -> None:
    """Elsewhere one is only made again from what a record or a log says."""
    makers: dict[str, set[str]] = {"Void": set(), "AgentFault": set()}
    for path in modules():
        for node in ast.walk(module_tree(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                if name in makers:
                    is_game = room_of(path) == "games"
                    makers[name].add("games" if is_game else str(path.relative_to(ROOT / "judge")))

    assert makers == {
        "Void": {"referee/blame.py"},
        "AgentFault": {
            "games",
            "referee/blame.py",
            "records/quantum_chess/replay.py",
            "records/stratego/replay.py",
        },
    }


OF_ONE_GAME = {"games", "protocols", "catalog", "attacks"}
"""Rooms that may name a game or a protocol: their own code, their entries, and programs that play one on purpose."""

NOT_ONLY_A_PROTOCOL = {"person"}
"""The name of a protocol that is also a kind of box."""


def may_name_a_game(path: Path) -> bool:
    parts = path.relative_to(ROOT / "judge").parts
    return parts[0] in OF_ONE_GAME or (parts[0] == "records" and len(parts) > 2)


def test_a_game_or_protocol_is_named_by_its_entry_alone() -> None:
    """The rest of the judge finds it in what is registered, so that a stranger's is treated as ours."""
    names = {*GAMES.names(), *PROTOCOLS.names()} - NOT_ONLY_A_PROTOCOL
    named = {
        (path, node.value)
        for path in modules()
        if not may_name_a_game(path)
        for node in ast.walk(module_tree(path))
        if isinstance(node, ast.Constant) and node.value in names
    }

    assert set() == named


def test_the_registered_names_are_those_of_pyproject() -> None:
    """An installation that is older than pyproject.toml would test other games than these."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = document["project"]["entry-points"]

    assert sorted(groups["judge.games"]) == GAMES.names()
    assert sorted(groups["judge.protocols"]) == PROTOCOLS.names()


@pytest.mark.parametrize("name", GAMES.names())
def test_an_entry_is_called_as_it_is_registered(name: str) -> None:
    entry = game_entry(name)

    assert name == entry.name
    assert entry.protocol in PROTOCOLS.names()


def test_every_module_says_its_rule_in_its_first_line() -> None:
    for path in modules():
        first = (ast.get_docstring(module_tree(path)) or "").split("\n")[0]

        assert first.endswith((".", ":", "?")) or first[-1:].isalpha(), path
        assert len(first) > 20, path


def type_names(node: ast.stmt) -> list[str]:
    """The public classes and the aliases of types that a statement of a module defines."""
    if isinstance(node, ast.ClassDef):
        names = [node.name]
    elif isinstance(node, ast.Assign) and is_type(node.value):
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
    else:
        names = []
    return [name for name in names if re.fullmatch("[A-Z][a-z][A-Za-z]*", name)]


def is_type(value: ast.expr) -> bool:
    """Whether an expression is a type, such as `tuple[int, int]`, and no value."""
    return isinstance(value, ast.Subscript) or (
        isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr) and is_type(value.left)
    )


def test_no_two_public_classes_share_a_name() -> None:
    """An alias of a type may have a name of another folder; in its own folder only the same alias has its name."""
    places: dict[str, list[str]] = {}
    of_folder: dict[tuple[str, str], set[str]] = {}
    for path in modules():
        for node in module_tree(path).body:
            place = str(path.relative_to(ROOT))
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(place)
            for name in type_names(node):
                said = ast.unparse(node.value) if isinstance(node, ast.Assign) else place
                of_folder.setdefault((str(path.parent), name), set()).add(said)

    assert {} == {name: found for name, found in places.items() if len(found) > 1}
    assert {} == {name: found for name, found in of_folder.items() if len(found) > 1}


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


KNOWN_CIRCLES = {("judge.protocols.gomocup", "judge.protocols.gomocup_former")}
"""A module and a subclass of its own class, which it makes for older records."""


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports in functions count: they only hide a circle."""
    of_path = {
        path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in modules()
    }
    names = set(of_path.values())
    left = {name: imported_modules(path, names) - {name} for path, name in of_path.items()}
    for name, other in KNOWN_CIRCLES:
        left[name].remove(other)
    # Modules that import none of those that are left are in no circle, nor are those that none of them imports.
    while free := {name for name, imports in left.items() if not imports & left.keys()}:
        left = {name: imports for name, imports in left.items() if name not in free}
    while free := left.keys() - {each for imports in left.values() for each in imports}:
        left = {name: imports for name, imports in left.items() if name not in free}

    assert {} == {name: sorted(imports & left.keys()) for name, imports in sorted(left.items())}
