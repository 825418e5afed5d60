"""Which build applies to a tree of sources: by its `[build]` table, else by what is in it; and the commands of it.

Commands are lists of words: a file is always named by `./`, so that no name is taken for an option, and no shell reads
any of them. What is played must be there afterwards; where nobody says what that is, the tree gets an agent.toml.
"""

import json
import platform
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict

from judge.agents.programs import python_words
from judge.base.bookkeeping import own_paths
from judge.base.durable_files import is_file
from judge.base.errors import InputError
from judge.base.text import quote
from judge.base.toml_files import parse as parse_toml
from judge.sandbox.layout import HOME, PROGRAM, SCRATCH

Kind = Literal[
    "c",
    "c++",
    "clang",
    "rust",
    "java",
    "python",
    "make",
    "cmake",
    "cargo",
    "go",
    "maven",
    "pascal",
    "c#",
    "javascript",
]

AT = f"{HOME}/tree"
"""Where sources are built: always there, for compilers write where they were into what they make."""
_BASE = ("-O2", "-static")
"""Static, so that a program runs in any image."""
_ENDINGS: dict[Kind, tuple[str, ...]] = {
    "c++": (".cpp", ".cc", ".cxx"),
    "c": (".c",),
    "rust": (".rs",),
    "java": (".java",),
    "go": (".go",),
    "pascal": (".pas", ".pp", ".dpr", ".lpr"),
    "c#": (".cs",),
    "python": (".py",),
    "javascript": (".js", ".mjs"),
}
_RANKS: tuple[tuple[Kind, ...], ...] = (
    ("c++", "c", "rust", "java"),
    ("go", "pascal", "c#"),
    ("python",),
    ("javascript",),
)
"""Beside a program of an earlier rank, sources of a later one are its tools."""
_OTHER_ENDINGS = {
    "F#": (".fs", ".fsproj"),
    "Visual Basic": (".vb", ".vbproj"),
    "Fortran": (".f", ".for", ".f77", ".f90", ".f95"),
    "Haskell": (".hs",),
    "TypeScript": (".ts",),
    "Kotlin": (".kt",),
    "Scala": (".scala",),
    "Swift": (".swift",),
    "OCaml": (".ml",),
    "Nim": (".nim",),
    "Zig": (".zig",),
    "D": (".d",),
    "Lua": (".lua",),
    "Ruby": (".rb",),
    "Perl": (".pl",),
    "Julia": (".jl",),
}
"""Languages whose sources are known and not built."""
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_MARKS: dict[str, Kind] = {
    **dict.fromkeys(MAKEFILES, "make"),
    "CMakeLists.txt": "cmake",
    "Cargo.toml": "cargo",
    "go.mod": "go",
    "pom.xml": "maven",
}
"""Files at the top of a tree that tell how it is built, the first of them before the others."""
NOT_BUILT = f"no source that is built here ({', '.join(get_args(Kind))}): send a program instead"
"""The refusal of a language that is not built."""
_MAX_READ_BYTES = 1 << 20
"""How much of a file is searched."""
_MAX_SEARCHED_BYTES = 8 << 20
"""How much of all files together is searched for the one in which a program begins."""
_PYTHON_SYNTAX = f"{PROGRAM}/judge/submissions/python_syntax.py"
"""Checks the syntax of a Python program where sources are built."""
SIDE_FOLDERS = frozenset(
    {
        *("test", "tests", "testing", "unittest", "unittests", "spec", "bench", "benchmark", "benchmarks", "perf"),
        *("tool", "tools", "script", "scripts", "util", "utils", "contrib", "misc", "old", "attic", "backup"),
        *("example", "examples", "sample", "samples", "demo", "demos", "doc", "docs", "training", "tuning"),
    }
)
"""Names in lower case of folders whose sources are left out where the build fails with them."""
_BUILT_AT = "2023-11-14T22:13:20Z"
_MAIN = re.compile(r"\bstatic\s+(?:final\s+)?void\s+main\s*\(")
_CRATES = ("dependencies", "build-dependencies", "dev-dependencies")
_CALLS_CARGO = re.compile(r"(?m)^(?:\t.*|[ \t]*\w+[ \t]*[:?]{0,2}=[ \t]*)\bcargo\b")
"""In a Makefile: a line of commands, or a variable such as `CARGO = cargo`, by which the lines of commands call it."""
_PASCAL_PROGRAM = re.compile(r"(?im)^[ \t]*program[ \t]+\w+")
_GO_REQUIRES = re.compile(r"(?m)^[ \t]*require\b")
_C_MAIN = re.compile(r"(?m)^[ \t]*(?:[A-Za-z_]\w*[ \t*]+){0,4}main[ \t]*\(")
_EXECUTABLE = re.compile(r"(?i)\badd_executable\s*\(\s*([\w.$\{\}-]+)")
_PROJECT_NAME = re.compile(r"\$\{(?:CMAKE_)?PROJECT_NAME\}")
_PROJECT = re.compile(r"(?i)\bproject\s*\(\s*([\w.-]+)")
_MAIN_JAVA, _MAIN_RESOURCES = "src/main/java", "src/main/resources"
"""Where projects of Maven and Gradle have what is played, beside its tests."""
_PACKAGE = re.compile(r"(?m)^[ \t]*package[ \t]+([A-Za-z_][\w.]*)[ \t]*;")


class BuildTable(BaseModel):
    """`[build]` of an agent.toml: how the agent is made of its sources."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind | None = None
    """None: what is in the tree tells."""
    main: str = ""
    """Where the program begins: a file (rust, python, pascal, javascript), a class (java), a package (go) or a program
    of several (cargo, cmake). Empty: what is usual in the language."""
    flags: tuple[str, ...] = ()
    """More words for the compiler (`-std=c++20`), for make (a target, `CXX=g++`), cmake (`-DNAME=VALUE`) or cargo."""


@dataclass(frozen=True, slots=True)
class BuildRecipe:
    """How a tree is built: the commands, and the lines for its agent.toml that the author left out."""

    kind: Kind
    commands: tuple[tuple[str, ...], ...]
    manifest: str = ""
    fallbacks: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """Commands to try in place of `commands` where those fail, with fewer sources."""

    def __str__(self) -> str:
        """One line that says all that decides what is built, for a record."""
        fallbacks = {"fallbacks": self.fallbacks} if self.fallbacks else {}
        return json.dumps({"kind": self.kind, "commands": self.commands, "manifest": self.manifest, **fallbacks})


@dataclass(frozen=True, slots=True)
class Sources:
    """A tree, what it is called, and what is played of it where the tree says that: the words of a command."""

    tree: Path
    name: str
    command: tuple[str, ...] = ()
    table: BuildTable | None = None
    said: frozenset[str] = frozenset()
    """The keys that its agent.toml has."""

    def files(self, kind: Kind) -> list[str]:
        """The sources of a kind, as words of a command, in order of name."""
        found = (path for path in own_paths(self.tree) if path.suffix.lower() in _ENDINGS[kind])
        return sorted(f"./{path.relative_to(self.tree).as_posix()}" for path in found if path.is_file())

    @property
    def program(self) -> str:
        """Where the program is to be, relative to the tree."""
        first = self.command[0] if self.command else ""
        return first.removeprefix("./") if first.startswith("./") else self.name

    @property
    def flags(self) -> tuple[str, ...]:
        """What the author gives the compiler."""
        return self.table.flags if self.table else ()

    @property
    def main(self) -> str:
        """Where the author says that the program begins."""
        return self.table.main if self.table else ""

    def manifest(self, runtime: str, *command: str) -> str:
        """Lines for an agent.toml that names no command, or is not there: what it does not say."""
        if self.command:
            return ""
        words = ", ".join(map(json.dumps, command))
        lines = {"name": json.dumps(self.name), "command": f"[{words}]", "runtime": json.dumps(runtime)}
        return "".join(f"{key} = {value}\n" for key, value in lines.items() if key not in self.said)


def is_built(name: str) -> bool:
    """Whether a file of this name is something that builds begin with."""
    endings = [ending for own in _ENDINGS.values() for ending in own]
    return name in _MARKS or Path(name).suffix.lower() in endings


def language_of(source: Path) -> str:
    """The languages of a file, or of a directory's files, that are not built here; empty where there are none."""
    paths = own_paths(source) if source.is_dir() else iter([source])
    endings = {path.suffix.lower() for path in paths}
    return " and ".join(name for name, own in _OTHER_ENDINGS.items() if endings & {*own})


def recipe_for(sources: Sources) -> BuildRecipe | None:
    """How the tree is built; None if there is nothing to build. InputError says what is unclear, and the fix."""
    if sources.table is None and sources.command and not _is_missing(sources):
        return None
    kind = (sources.table.kind if sources.table else None) or _kind_of(sources)
    if sources.table is not None and kind is None:
        raise InputError(f"[build] of agent.toml: there is {NOT_BUILT}")
    return _RECIPES[kind](sources) if kind else None


def _is_missing(sources: Sources) -> bool:
    """Whether the command speaks of something that is not in the tree (yet)."""
    first = sources.command[0]
    if first == "java":
        return _lacks_class(sources)
    if first == "mono":
        return not any(sources.tree.rglob("*.exe"))
    return first.startswith("./") and not is_file(sources.tree / first)


def _lacks_class(sources: Sources) -> bool:
    """Whether nothing compiled is there, or only .jar files beside the source of the class that `java` is to run."""
    if any(sources.tree.rglob("*.class")):
        return False
    sent = {file.removesuffix(".java").replace("/", ".") for file in sources.files("java")}
    begins = any(source.endswith(f".{word}") for source in sent for word in sources.command[1:] if word)
    return begins or not any(sources.tree.rglob("*.jar"))


def _kind_of(sources: Sources) -> Kind | None:
    marked = {kind: name for name, kind in reversed(_MARKS.items()) if (sources.tree / name).is_file()}
    if "cargo" in marked and "make" in marked and _CALLS_CARGO.search(_read(sources.tree / marked["make"])):
        return "cargo"  # which knows more of it, and make's image has no cargo
    if marked:
        return [*marked][-1]
    by_kind = {kind: sources.files(kind) for kind in _ENDINGS}
    if any(not _is_aside(file) for files in by_kind.values() for file in files):
        by_kind = {kind: [file for file in files if not _is_aside(file)] for kind, files in by_kind.items()}
    for rank in _RANKS:
        found = [kind for kind in rank if by_kind[kind]]
        if "c++" in found and "c" in found:
            found.remove("c")  # one program of both
        at_top = [kind for kind in found if any(file.count("/") == 1 for file in by_kind[kind])]
        found = at_top if len(at_top) == 1 else found
        if len(found) > 1:
            raise InputError(
                f"there are sources of {' and '.join(found)}: say which is built in agent.toml, "
                f'[build] kind = "{found[0]}", or add a Makefile'
            )
        if found:
            return found[0]
    return None


def _is_aside(file: str) -> bool:
    """Whether a source, a word of a command, is in a folder of tests or tools."""
    return not SIDE_FOLDERS.isdisjoint(part.lower() for part in file.split("/")[1:-1])


def _selections(sources: Sources, files: Sequence[str], begins: re.Pattern[str]) -> Iterator[list[str]]:
    """Fewer and fewer of the sources: without folders of tests and tools, then with one that begins a program.

    Many programs have tests and tools beside them, each with its own `main`. Which one plays is said by its name, or by
    its place above the others.
    """
    own = [file for file in files if not _is_aside(file)] or list(files)
    if len(own) < len(files):
        yield own
    starts = [file for file, text in _texts(sources, own) if begins.search(text)]
    if len(starts) > 1 and (main := _likeliest(sources, starts)):
        yield [file for file in own if file == main or file not in starts]


def _likeliest(sources: Sources, files: Sequence[str]) -> str:
    """The one of several files that is named like the program, or `main`, or is above all others; empty if unclear."""
    for stem in (Path(sources.main).stem, Path(sources.program).stem, sources.name, "main"):
        if len(named := [file for file in files if stem and Path(file).stem.lower() == stem.lower()]) == 1:
            return named[0]
    top = min(file.count("/") for file in files)
    above = [file for file in files if file.count("/") == top]
    return above[0] if len(above) == 1 else ""


def _texts(sources: Sources, files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Files and their texts, as far as there is not too much of them."""
    left = _MAX_SEARCHED_BYTES
    for file in files:
        text = _read(sources.tree / file)
        left -= len(text)
        if left < 0:
            return
        yield file, text


# --- the kinds ------------------------------------------------------------------------------------


def _c(sources: Sources) -> BuildRecipe:
    command = ("gcc", *_BASE, *sources.flags, "-o", f"./{sources.program}")
    return _compiled(sources, "c", command, _needed(sources, "c"), ("-lm", "-pthread"))


def _cpp(sources: Sources) -> BuildRecipe:
    """One program of C++ and C files: gcc goes by their endings, g++ would take all for C++."""
    command = ("gcc", *_BASE, *sources.flags, "-o", f"./{sources.program}")
    files = (*_needed(sources, "c++"), *sources.files("c"))
    return _compiled(sources, "c++", command, files, ("-lstdc++", "-lm", "-pthread"))


def _clang(sources: Sources) -> BuildRecipe:
    """As C++, by a newer compiler."""
    files = (*sources.files("c++"), *sources.files("c")) or _needed(sources, "c++")
    command = ("clang", *_BASE, *sources.flags, "-o", f"./{sources.program}")
    return _compiled(sources, "clang", command, files, ("-lstdc++", "-lm", "-pthread"))


def _compiled(
    sources: Sources, kind: Kind, command: tuple[str, ...], files: Sequence[str], libraries: tuple[str, ...]
) -> BuildRecipe:
    """A native program of all sources, or of fewer where that fails."""
    recipe = _native(sources, kind, (*command, *files, *libraries))
    fewer = _selections(sources, files, _C_MAIN)
    return replace(recipe, fallbacks=tuple(((*command, *some, *libraries),) for some in fewer))


def _cmake(sources: Sources) -> BuildRecipe:
    """Its programs come to the top of the tree, where the one that plays is looked for."""
    _marked(sources, "cmake", "CMakeLists.txt")
    scratch = f"{SCRATCH}/build"
    options = ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXE_LINKER_FLAGS=-static", "-DBUILD_TESTING=OFF")
    configure = ("cmake", "-S", ".", "-B", scratch, *options, f"-DCMAKE_RUNTIME_OUTPUT_DIRECTORY={AT}", *sources.flags)
    text = _read(sources.tree / "CMakeLists.txt")
    program = sources.main or _cmake_program(text)
    manifest = sources.manifest("native", f"./{program}") if program else ""
    return BuildRecipe("cmake", (configure, ("cmake", "--build", scratch)), manifest)


def _cmake_program(text: str) -> str:
    """The only program that a CMakeLists.txt makes; empty if there are several, or its name is computed."""
    project = _PROJECT.search(text)
    names = [_PROJECT_NAME.sub(project[1] if project else "", name) for name in _EXECUTABLE.findall(text)]
    return names[0] if len(names) == 1 and "$" not in names[0] else ""


def _go(sources: Sources) -> BuildRecipe:
    """A module with what it needs in vendor/, or the files of one package."""
    is_module = (sources.tree / "go.mod").is_file()
    if is_module and _GO_REQUIRES.search(_read(sources.tree / "go.mod")) and not _has_vendor(sources):
        raise InputError("go.mod requires modules, and there is no network: run `go mod vendor`, and send vendor/ too")
    what = [f"./{sources.main.removeprefix('./')}" if sources.main else "."] if is_module else _go_files(sources)
    options = ("-buildvcs=false", "-ldflags=-s -w")
    return _native(sources, "go", ("go", "build", *options, *sources.flags, "-o", f"./{sources.program}", *what))


def _go_files(sources: Sources) -> list[str]:
    """The files of the program's package."""
    files = [file for file in _needed(sources, "go") if not file.endswith("_test.go")]
    return [file for file in files if not _is_aside(file)] or files


def _cargo(sources: Sources) -> BuildRecipe:
    """A package with its crates in vendor/; the program is copied out of Cargo's own directory.

    Cargo is told the machine that it builds for, although that is its own: only then are the options for the program
    not used for build scripts and macros, which cannot be static.
    """
    _marked(sources, "cargo", "Cargo.toml")
    cargo = _cargo_file(sources.tree)
    package = cargo.get("package")
    if not isinstance(package, dict):
        raise InputError("Cargo.toml has no [package]: send the package of the program, not a workspace")
    if _has_far_crates(cargo) and not _has_vendor(sources):
        raise InputError(
            "Cargo.toml has dependencies, and there is no network: run `cargo vendor`, and send vendor/ too"
        )
    bins = [str(each.get("name", "")) for each in cargo.get("bin", ()) if isinstance(each, dict)]
    name = sources.main or (bins[0] if len(bins) == 1 else str(package.get("name", "")))
    if not re.fullmatch(r"[\w-]+", name):
        raise InputError(
            f'Cargo.toml, package.name {quote(name, 40)}: name the program, [build] main = "…" in agent.toml'
        )
    config: tuple[str, ...] = ()
    if _has_vendor(sources):
        config = ("--config", 'source.crates-io.replace-with="sent"', "--config", 'source.sent.directory="vendor"')
    scratch, target = f"{SCRATCH}/target", f"{platform.machine()}-unknown-linux-gnu"
    where = ("--target", target, "--target-dir", scratch)
    build = ("cargo", "build", "--release", "--offline", "--bin", name, *where, *config, *sources.flags)
    commands = (build, ("cp", f"{scratch}/{target}/release/{name}", f"./{sources.program}"))
    return BuildRecipe("cargo", commands, sources.manifest("native", f"./{sources.program}"))


def _has_far_crates(cargo: dict[str, Any]) -> bool:
    """Whether a Cargo.toml wants crates that are not beside it; those are named by a `path`."""
    places = [cargo, *_tables(cargo.get("target"))]
    wanted = [place.get(key) for place in places for key in _CRATES]
    return any("path" not in crate if isinstance(crate, dict) else True for table in wanted for crate in _values(table))


def _tables(value: object) -> list[dict[str, Any]]:
    return [table for table in _values(value) if isinstance(table, dict)]


def _values(value: object) -> list[Any]:
    return [*value.values()] if isinstance(value, dict) else []


def _has_vendor(sources: Sources) -> bool:
    return (sources.tree / "vendor").is_dir()


def _pascal(sources: Sources) -> BuildRecipe:
    files = _needed(sources, "pascal")
    programs = [file for file, text in _texts(sources, files) if _PASCAL_PROGRAM.search(text)]
    programs = [file for file in programs if not _is_aside(file)] or programs
    main = sources.main or (_likeliest(sources, programs) if programs else "")
    if not main:
        raise InputError(f'{len(programs)} files begin a program: say which in agent.toml, [build] main = "…"')
    options = ("-O2", "-Xs", f"-FU{SCRATCH}", f"-o./{sources.program}")
    return _native(sources, "pascal", ("fpc", *options, *sources.flags, f"./{_inside(sources, main)}"))


def _c_sharp(sources: Sources) -> BuildRecipe:
    files = _needed(sources, "c#")
    named = sources.command[1] if sources.command[:1] == ("mono",) and len(sources.command) > 1 else ""
    program = named.removeprefix("./") or f"{sources.name}.exe"
    command = ("mcs", "-optimize+", *sources.flags, f"-out:./{program}")
    own = [file for file in files if not _is_aside(file)]
    fallbacks = (((*command, *own),),) if own and len(own) < len(files) else ()
    return BuildRecipe("c#", ((*command, *files),), sources.manifest("mono", "mono", program), fallbacks)


def _javascript(sources: Sources) -> BuildRecipe:
    """Nothing is made."""
    files = _needed(sources, "javascript")
    usual = [name for name in ("main.js", "index.js") if (sources.tree / name).is_file()]
    only = [files[0].removeprefix("./")] if len(files) == 1 else []
    main = sources.main or next(iter([*usual, *only]), "")
    if not main and not sources.command:
        raise InputError('main.js is missing: say in agent.toml where it begins, [build] main = "…"')
    manifest = sources.manifest("node", "node", _inside(sources, main)) if main else ""
    return BuildRecipe("javascript", (), manifest)


def _rust(sources: Sources) -> BuildRecipe:
    edition = _edition(sources.tree)
    usual = [name for name in ("src/main.rs", "main.rs") if (sources.tree / name).is_file()]
    files = _needed(sources, "rust")
    only = [files[0].removeprefix("./")] if len(files) == 1 else []
    main = sources.main or next(iter([*usual, *only]), "")
    if not main:
        raise InputError('src/main.rs is missing: say in agent.toml where it begins, [build] main = "…"')
    static = ("-C", "target-feature=+crt-static", "-C", "strip=symbols")
    options = ("--edition", edition, "-C", "opt-level=3", *static)
    output = ("-o", f"./{sources.program}", f"./{_inside(sources, main)}")
    return _native(sources, "rust", ("rustc", *options, *sources.flags, *output))


def _edition(tree: Path) -> str:
    """The edition that a Cargo.toml names; InputError where it wants what only cargo brings."""
    if not (tree / "Cargo.toml").is_file():
        return "2021"
    cargo = _cargo_file(tree)
    package = cargo.get("package")
    package = package if isinstance(package, dict) else {}
    if cargo.get("dependencies") or cargo.get("build-dependencies"):
        raise InputError('Cargo.toml has dependencies, which Cargo alone uses: say kind = "cargo"')
    if package.get("build") or (tree / "build.rs").is_file():
        raise InputError('build.rs is run by Cargo alone: say kind = "cargo"')
    edition = str(package.get("edition", "2015"))
    if edition not in ("2015", "2018", "2021"):
        raise InputError(f"Cargo.toml, package.edition {edition[:20]!r}: there are 2015, 2018 and 2021")
    return edition


def _cargo_file(tree: Path) -> dict[str, Any]:
    return parse_toml(Path("Cargo.toml"), _read(tree / "Cargo.toml"))


def _java(sources: Sources) -> BuildRecipe:
    """All classes and the .jar files that were sent are on one path; of Maven's and Gradle's layout, what is played.

    Processors of annotations are in .jar files, and without any javac shall look for none.
    """
    files = _needed(sources, "java")
    if (sources.tree / _MAIN_JAVA).is_dir():
        files = [file for file in files if file.startswith(f"./{_MAIN_JAVA}/")] or files
    files = [file for file in files if Path(file).name != "module-info.java"] or files
    jars = _jars(sources.tree)
    resources = [_MAIN_RESOURCES] if (sources.tree / _MAIN_RESOURCES).is_dir() else []
    path = ":".join([".", *resources, *jars])
    needs = ("-cp", path) if jars else ("-proc:none",)
    flags = ("-encoding", "UTF-8", *needs, "-g:none", "-d", ".")
    main = sources.main or ("" if sources.command else _main_class(sources, files))
    command = ("javac", *flags, *sources.flags)
    own = [file for file in files if not _is_aside(file)]
    fallbacks = (((*command, *own),),) if own and len(own) < len(files) else ()
    return BuildRecipe("java", ((*command, *files),), sources.manifest("java", "java", "-cp", path, main), fallbacks)


def _maven(sources: Sources) -> BuildRecipe:
    """A project of one module: its classes play, with the libraries that they need, which Maven copies beside them."""
    _marked(sources, "maven", "pom.xml")
    files = [file for file in sources.files("java") if file.startswith(f"./{_MAIN_JAVA}/")]
    main = sources.main or ("" if sources.command else _main_class(sources, files))
    one_time = (
        f"-Dproject.build.outputTimestamp={_BUILT_AT}"  # of all that is in a .jar, so that same sources make same bytes
    )
    mvn = ("mvn", "--quiet", "-Dmaven.test.skip=true", one_time, *sources.flags)
    package, path = (*mvn, "package"), "./target/classes"
    if "<dependency>" not in _read(sources.tree / "pom.xml"):
        return BuildRecipe("maven", (package,), sources.manifest("java", "java", "-cp", path, main))
    libraries = "target/dependency"
    copy = (*mvn, "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={libraries}")
    there = (("mkdir", "-p", libraries), ("cp", "pom.xml", libraries))  # so that the folder is never missing, nor empty
    command = ("java", "-cp", f"{path}:{libraries}/*", main)
    return BuildRecipe("maven", (package, copy, *there), sources.manifest("java", *command))


def _jars(tree: Path) -> list[str]:
    """The .jar files of a tree, in order of name, but for those with which Maven and Gradle start themselves."""
    found = (path.relative_to(tree) for path in tree.rglob("*.jar") if path.is_file())
    return sorted(path.as_posix() for path in found if "wrapper" not in path.parts and ":" not in path.as_posix())


def _main_class(sources: Sources, files: list[str]) -> str:
    found = {}
    own = [file for file in files if not _is_aside(file)] or files
    for file, text in _texts(sources, own):
        if _MAIN.search(text):
            package = _PACKAGE.search(text)
            found[f"{package[1]}.{Path(file).stem}" if package else Path(file).stem] = file
    if "Main" in found or len(found) == 1:
        return "Main" if "Main" in found else next(iter(found))
    what = f"{len(found)} classes have a main method" if found else "no class has a main method"
    raise InputError(f'{what}: say in agent.toml where it begins, [build] main = "…"')


def _python(sources: Sources) -> BuildRecipe:
    """Nothing is made; but an error of syntax is told now, with its line, in what the program itself consists of."""
    files = _needed(sources, "python")
    files = [file for file in files if not _is_aside(file)] or files
    usual = [name for name in ("main.py", "__main__.py") if (sources.tree / name).is_file()]
    only = [files[0].removeprefix("./")] if len(files) == 1 else []
    main = sources.main or next(iter([*usual, *only]), "")
    if not main and not sources.command:
        raise InputError('main.py is missing: say in agent.toml where it begins, [build] main = "…"')
    if main and (words := python_words(sources.tree / _inside(sources, main)))[0] == "python2":
        # No compiler for it is here; what it is worth, the check will tell.
        manifest = sources.manifest("python2", *words, _inside(sources, main))
        return BuildRecipe("python", (), manifest)
    manifest = sources.manifest("python", "python3", _inside(sources, main)) if main else ""
    started = main or next((word for word in sources.command[1:] if f"./{word.removeprefix('./')}" in files), "")
    check = (("python3", "-I", _PYTHON_SYNTAX, started.removeprefix("./")),) if started else ()
    return BuildRecipe("python", check, manifest)


def _make(sources: Sources) -> BuildRecipe:
    if not any((sources.tree / name).is_file() for name in MAKEFILES):
        raise InputError(f'agent.toml: build.kind = "make", but there is no {MAKEFILES[-1]} at the top')
    return BuildRecipe("make", (("make", *sources.flags),))


_RECIPES: dict[Kind, Callable[[Sources], BuildRecipe]] = {
    "c": _c,
    "c++": _cpp,
    "rust": _rust,
    "java": _java,
    "maven": _maven,
    "python": _python,
    "make": _make,
    "clang": _clang,
    "cmake": _cmake,
    "cargo": _cargo,
    "go": _go,
    "pascal": _pascal,
    "c#": _c_sharp,
    "javascript": _javascript,
}


def _native(sources: Sources, kind: Kind, command: tuple[str, ...]) -> BuildRecipe:
    return BuildRecipe(kind, (command,), sources.manifest("native", f"./{sources.program}"))


def _marked(sources: Sources, kind: Kind, name: str) -> None:
    if not (sources.tree / name).is_file():
        raise InputError(f'agent.toml: build.kind = "{kind}", but there is no {name} at the top')


def _needed(sources: Sources, kind: Kind) -> list[str]:
    files = sources.files(kind)
    if not files:
        endings = " or ".join(_ENDINGS[kind])
        raise InputError(f'agent.toml: build.kind = "{kind}", but there is no file that ends in {endings}')
    return files


def _inside(sources: Sources, main: str) -> str:
    """`main`, as a file of the tree."""
    names = {file.removeprefix("./") for kind in _ENDINGS for file in sources.files(kind)}
    if main.removeprefix("./") not in names:
        raise InputError(f"agent.toml: build.main = {quote(main, 80)} is no source file of the tree")
    return main.removeprefix("./")


def _read(path: Path) -> str:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return file.read(_MAX_READ_BYTES)
