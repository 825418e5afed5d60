"""Finds the line of a failed build's log that its author needs, and the fix.

The first line with a file and line number is preferred.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from judge.agents.builds import AT
from judge.base.bookkeeping import own_paths
from judge.base.text import printable, sentence
from judge.submissions.path_checks import shown

PYTHON_2 = sentence(
    "it is Python 2: write it for Python 3, or, where the contest's policy admits the runtime python2, begin it with "
    '#!/usr/bin/python2 or set in agent.toml: runtime = "python2"'
)
PYTHON_2_ERROR = (
    r"SyntaxError: (?:[^:\n]{1,300}, line \d+: )?(?:Missing parentheses in call to '(?:print|exec)'"
    r"|multiple exception types must be parenthesized|leading zeros in decimal)"
)
GO_VERSION = "1.19"
"""Of the image toolchain-go."""

_REASON_CHARACTERS = 240
_CONTINUED_LINES = 6
_INSTANTIATION_LINES = 40
_CAUSE_LINES = 30

_NOISE = re.compile(
    r"""(?x)
    ^\$\                                                         # a command of the build
    | ^mono_thread_internal_set_priority:                        # Mono in every box
    | ^Picked\ up\ \w+:                                          # Java
    | ^collect2:\ | :\ error:\ linker\ command\ failed\b         # after the linker's own line
    | ^error:\ (?:linking\ with|aborting\ due|could\ not\ compile)\b
    | ^compilation\ terminated | ^Compilation\ failed: | ^Fatal:\ Compilation\ aborted | :\ There\ were\ \d+\ errors
    | ^g?make(?:\[\d+\])?:\ \*\*\*\ \[ | ^g?make(?:\[\d+\])?:\ (?:Entering|Leaving)\ directory
    | ^\[ERROR\]\ (?:COMPILATION\ ERROR|\[ERROR\]\ Some\ problems|Re-run\ Maven|To\ see|For\ more|\[Help|->|$)
    | ^--\ Configuring\ incomplete | ^See\ also\ | ^ninja:\ build\ stopped
    | ^(?:[^\s:]+:+\s?){0,6}(?:warning|note):\ | \bskipping\ incompatible\b
    """
)
_PLACED = re.compile(
    r"""(?x)
    ^[^\s:$][^:]*:\d+(?::\d+)?:\ (?:fatal\ )?error:\             # gcc, clang, javac
    | :\ error\ (?:CS|MSB|BC)\d+: | ^error\ (?:CS|MSB)\d+:       # mcs, msbuild
    | \(\d+(?:,\d+)?\)\ (?:Error|Fatal):\                        # fpc
    | ^(?:vet:\ )?(?:\S*/)?[^\s:/]+\.(?:go|mod):\d+(?::\d+)?:\   # go
    | ^SyntaxError:\                                             # judge.submissions.python_syntax
    | ^\[ERROR\]\ \S+\.\w+:\[\d+,\d+\]\  | ^\[FATAL\]\           # Maven
    | ^CMake\ Error\b                                            # CMake
    | ^[\w./-]+:\d+:\ \*\*\*\                                    # make
    """
)
_UNPLACED = re.compile(
    r"""(?x)
    ^error(?:\[E\d+\])?:\                                        # rustc, cargo, javac
    | \bundefined\ reference\ to\b | \bmultiple\ definition\ of\b | \bcannot\ find\ -l
    | \bld(?:\.\w+)?:\ (?!.*:\ in\ function\ )                   # ld
    | ^(?:\w+\.)*\w*(?:Error|Exception):\                        # Python, Java
    | ^configure:\ error:\  | ^Fatal:\                           # autoconf, fpc
    | ^\[ERROR\]\                                                # Maven
    """
)
_STEP = re.compile(
    r"^g?make(?:\[\d+\])?: \*\*\* (?!\[)|: (?:command )?not found$|: (?:No such file or directory|Permission denied)$"
)
_OTHER = re.compile(r"(?i)\berror(?:\[\w+\])?:")
_ENDED = re.compile(r"^\S+ (?:ended with code \d+|was ended by SIG\w+)$")

_RUST_PLACE = re.compile(r"^\s*--> (\S+)$")
_JAVA_SYMBOL = re.compile(r"^(?:\[ERROR\])?\s*(symbol: .*)$")
_INSTANTIATED = re.compile(r"^(\S+:\d+:\d+):\s+required from here$")

_NOT_IN_REPOSITORY = sentence(
    "there is no network, and Maven has the distribution's plugins: leave out the versions of plugins, or run "
    "`mvn -Dmaven.repo.local=repository package`, and send repository/ too"
)

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF16_READ = re.compile(
    r"(?i)stray .{0,20}377|null (?:character|byte)|unmappable|illegal char|valid UTF-8|non-UTF-8|invalid"
)

_NO_TOOL = re.compile(
    r"(?m)^(?:\S*sh: (?:line )?\d+|g?make(?:\[\d+\])?): ([\w.+-]+): (?:(?:command )?not found|No such file)"
)
_KINDS = {
    "cmake": "cmake",
    "cargo": "cargo",
    "mvn": "maven",
    "go": "go",
    "fpc": "pascal",
    "mcs": "c#",
    "clang": "clang",
    "clang++": "clang",
}
_INSTALLERS = frozenset(
    {
        *("sudo", "apt", "apt-get", "aptitude", "yum", "dnf", "pacman", "apk", "brew", "port", "choco", "nix", "snap"),
        *("pip", "pip3", "pipenv", "poetry", "conda", "uv", "npm", "yarn", "vcpkg", "conan"),
        *("git", "hg", "svn", "curl", "wget"),
    }
)
_GCC = frozenset({"gcc", "g++", "cc", "c++", "cpp"})
_OF_WINDOWS = re.compile(r"(?i)^(?:cl|nmake|link|msbuild|devenv|csc|rc|\S*-mingw32(?:msvc)?-\S+|\S+\.exe)$")
_VERSION = re.compile(r"-\d+(?:\.\d+)*$")

_HEADER = re.compile(r"fatal error: '?((?:[\w+-][\w.+-]*/)*[\w+-][\w.+-]*)'?(?:: No such file| file not found)")
_LIBRARY = re.compile(r"cannot find -l([\w.+-]+)")
_WRITE_GO = sentence(
    f"the Go here is {GO_VERSION}: write `go {GO_VERSION}` in go.mod, and leave out the line toolchain"
)
_KNOWN = (
    (r"unmappable character", '[build] flags = ["-encoding", "ISO-8859-1"]'),
    (PYTHON_2_ERROR, PYTHON_2),
    (
        r"no matching package named|but --offline was specified",
        sentence("crates that were not sent are needed: run `cargo vendor`, and send vendor/ too"),
    ),
    (
        r"(?i)Could not (?:resolve|find) .{0,200}?artifact|Plugin \S+ or one of its dependencies could not be resolved",
        _NOT_IN_REPOSITORY,
    ),
    (
        r"error\[E0658\]|edition 2024|edition2024|let\.\.\.else|requires rustc \d",
        sentence("the rustc here is older: write it for an older one"),
    ),
    (r"go\.mod:\d+: (?:invalid go version|unknown directive: (?:toolchain|godebug|tool)\b)", _WRITE_GO),
    (
        r"package (?![^\s.]+\.\S*/)\S+ is not in GOROOT|note: module requires Go \d",
        sentence(
            f"the Go here is {GO_VERSION}: use the standard library of that version; a folder of yours is imported as "
            "MODULE/FOLDER, with the module's name in go.mod"
        ),
    ),
    (
        r"module provid(?:ing|es) package \S+\.\S+/|(?<!\S)(?=[^\s.]+\.\S*/)\S+ is not in GOROOT|module lookup dis",
        sentence("there is no network: run `go mod vendor`, and send go.mod and vendor/ too"),
    ),
    (
        r"multiple definition of `main'",
        sentence(
            'several files have a main: name the program\'s in agent.toml, [build] main = "FILE", or send a Makefile'
        ),
    ),
    (
        r"error CS0017:",
        sentence(
            'several classes have a Main: name the program\'s in agent.toml, [build] flags = ["-main:NAMESPACE.CLASS"]'
        ),
    ),
    (
        r"Can't find unit (?:Windows|Messages|SysUtils|Forms|Vcl\S*|WinApi\S*)\b",
        sentence("the unit belongs to Windows or Delphi: use units of Free Pascal (docs/languages/pascal.md)"),
    ),
    (
        r"relocation R_X86_64_\S+ .* can not be used when making a (?:PIE|shared) object",
        sentence("its object files are for another kind of program: send their sources, or compile them with -fPIE"),
    ),
)
_JAVA_PACKAGE = re.compile(r"(?m)(?:error:|\[ERROR\] .{0,300}?\]) package ([\w.]+) does not exist")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".rs", ".java", ".py")
_LOOKED_AT = 2000


def reason_of(log: str) -> str:
    """May be empty."""
    lines = [line.rstrip().replace(f"{AT}/", "") for line in log.split("\n")]
    for pattern in (_PLACED, _UNPLACED, _STEP, _OTHER):
        for number, line in enumerate(lines):
            if pattern.search(line.strip()) and not _NOISE.search(line.strip()):
                return printable(_whole(lines, number), _REASON_CHARACTERS)
    last = (line.strip() for line in reversed(lines) if line.strip())
    return printable(next((line for line in last if not _ENDED.match(line) and not _NOISE.search(line)), ""), 200)


def _whole(lines: Sequence[str], number: int) -> str:
    line = lines[number].strip()
    after = lines[number + 1 : number + 1 + _CONTINUED_LINES]
    if line.startswith("CMake Error"):
        return _cmake_error(line, after)
    if "Caused by:" in after:
        causes = lines[number + 1 + after.index("Caused by:") : number + 1 + _CAUSE_LINES]
        indented_lines = [each.strip() for each in causes if each.startswith("  ") and each.strip()]
        return f"{line}: {indented_lines[-1]}" if indented_lines else line
    if line.startswith("error") and (place := _first(_RUST_PLACE, after)):
        return f"{line} ({place})"
    if line.endswith("cannot find symbol") and (symbol := _first(_JAVA_SYMBOL, after)):
        return f"{line} ({' '.join(symbol.split())})"
    before = lines[max(0, number - _INSTANTIATION_LINES) : number][::-1]
    if line.startswith("/usr/") and (place := _first(_INSTANTIATED, before)):
        return f"{place}: {line}"
    return line


def _first(pattern: re.Pattern[str], lines: Sequence[str]) -> str:
    return next((found[1] for line in lines if (found := pattern.match(line))), "")


def _cmake_error(line: str, after: Sequence[str]) -> str:
    place = "CMake Error:" if line.startswith("CMake Error at /usr/") else line
    words: list[str] = []
    for each in after:
        if not each.strip() and words and not words[-1].endswith(":"):
            break
        if each.strip():
            if not each.startswith(" "):
                break
            words.append(each.strip())
    return " ".join([place, *words])


def advice(log: str, tree: Path) -> str:
    """Empty if the cause is unknown."""
    if _UTF16_READ.search(log) and (path := _utf16_source(tree)):
        return sentence(f"{shown(path)} is UTF-16: save it as UTF-8")
    if found := _NO_TOOL.search(log):
        return _of_tool(found[1])
    for pattern, fix in _KNOWN:
        if re.search(pattern, log):
            return fix
    if headers := _HEADER.findall(log):
        return _of_headers(headers, tree)
    if found := _JAVA_PACKAGE.search(log):
        name = printable(found[1], 60)
        return sentence(
            f"{name} is missing in Java and in the upload: send its .jar files with the sources (Maven: "
            "mvn dependency:copy-dependencies -DoutputDirectory=lib)"
        )
    if found := _LIBRARY.search(log):
        return sentence(f"the library {printable(found[1], 60)} is missing here: send its sources, or do without it")
    return ""


def _of_tool(tool: str) -> str:
    name = printable(tool, 60)
    base = _VERSION.sub("", tool)
    if kind := _KINDS.get(base):
        return sentence(
            f'{name} is missing for make: leave the Makefile out, or set in agent.toml [build] kind = "{kind}"'
        )
    if base in _GCC:
        return sentence(f"{name} is missing: the compilers for make are gcc and g++, called without a version")
    if base in _INSTALLERS:
        return sentence(f"{name} is missing: a Makefile cannot install anything here: send what it needs")
    if _OF_WINDOWS.match(tool):
        return sentence(f"{name} belongs to Windows: send the .exe, or a Makefile for Linux")
    if base == "python":
        return sentence("python is called python3 here: use python3")
    if base == "pyinstaller":
        return sentence("a Python program is not built: send it without the Makefile")
    return sentence(f"{name} is missing: send the sources that make it")


def _of_headers(names: Sequence[str], tree: Path) -> str:
    for name in names:
        if Path(name).name.lower() in _windows_headers():
            return sentence(f"{printable(name, 60)} belongs to Windows: send the .exe, or sources for Linux")
    name = names[0]
    found = (f"/{path.relative_to(tree).as_posix()}" for path in tree.rglob(Path(name).name))
    for path in sorted(path for path in found if path.endswith(f"/{name}"))[:1]:
        folder = path.removesuffix(f"/{name}").removeprefix("/")
        return sentence(f'{shown(name)} is there, but not where it is looked for: [build] flags = ["-I./{folder}"]')
    if "." not in name and "/" not in name:
        return sentence(f"{shown(name)} belongs to a newer C++ than the compiler here has: write it for C++20")
    paths = islice(own_paths(tree), _LOOKED_AT)
    if same := next((path.name for path in paths if path.name.lower() == Path(name).name.lower()), ""):
        return sentence(f"{shown(name)} is called {shown(same)} in the upload: names differ in case here; correct it")
    return sentence(f"{shown(name)} is missing here and in the upload: send it with the sources")


@cache
def _windows_headers() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("windows_headers.txt").read_text(encoding="ascii").split())


def _utf16_source(tree: Path) -> str:
    sources = (path for path in own_paths(tree) if path.suffix.lower() in _SOURCES)
    for path in islice(sources, _LOOKED_AT):
        with path.open("rb") as file:
            if file.read(2) in _UTF16:
                return path.relative_to(tree).as_posix()
    return ""
