"""Explains why a program did not start."""

import codecs
import platform
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath

from judge.agents.builds import KINDS, is_built
from judge.agents.program_files import file_inside, similar_path
from judge.agents.programs import read_elf
from judge.agents.python_version import first_line
from judge.base.bookkeeping import own_paths
from judge.base.durable_files import read_bounded
from judge.base.errors import InputError
from judge.base.text import nearest, printable, sentence

_HEAD_BYTES = 512
_MAX_FILES = 2000
_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xfe\xed\xfa\xce")
_FAT = b"\xca\xfe\xba\xbe"
_OTHER_NAMES = {
    "python": "python3",
    "py": "python3",
    "pypy": "python3",
    "pypy3": "python3",
    "python.exe": "python3",
    "nodejs": "node",
    "node.exe": "node",
    "java.exe": "java",
    "dotnet": "mono",
    "mono.exe": "mono",
    "wine64": "wine",
    "zsh": "sh",
    "ksh": "sh",
    "cmd": "sh",
    "cmd.exe": "sh",
}
_COMMANDS = {".py": ("python3", "python"), ".js": ("node", "node"), ".mjs": ("node", "node"), ".sh": ("sh", "native")}
CASE = sentence("names differ in case here; correct one of them")
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_MAX_LFS_POINTER_BYTES = 1024

CPUINFO = Path("/proc/cpuinfo")
MAX_CPUINFO_BYTES = 16 << 20
_FLAGS = re.compile(r"^(?:flags|Features)[ \t]*:(.*)$", re.MULTILINE)
_FLAG = re.compile(r"[a-z0-9_.]{1,32}")
_LEVELS = (
    ("x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
    ("x86-64-v3", {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}),
    ("x86-64-v2", {"cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"}),
)


def why_not_started(program: Path, word: str, *, is_denied: bool = False) -> str:
    """Why a command's first word cannot start, and the fix; empty if unknown. `is_denied`: by EACCES."""
    if not word.startswith("/") and file_inside(program, word):
        return fault_of_file(program / word, is_denied=is_denied)
    if word.startswith("./") or "/" in word.strip("/"):
        return _missing_file(program, word)
    return other_name(word)


def other_name(word: str) -> str:
    """Name of a missing program here; empty if unknown."""
    name = PurePosixPath(word).name
    here = _OTHER_NAMES.get(name.lower(), "python3" if re.fullmatch(r"python3\.\d+", name) else "")
    return sentence(f"{printable(name, 60)} is called {here} here: use {here}") if here else ""


def fault_of_file(file: Path, *, is_denied: bool = False) -> str:
    """As `why_not_started`, for a file of the agent."""
    with file.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    name = printable(file.name, 60)
    if pointer := lfs_pointer(file):
        return pointer
    if not head:
        return sentence(f"{name} is empty: build it, or copy it again")
    if (elf := read_elf(file)) is not None:
        if elf.is_object:
            return sentence(f"{name} is an object file, not a program: link it")
        if not elf.is_of_this_host:
            return sentence(f"{name} is for {elf.machine}, and this host is {_host()}: compile it for {_host()}")
        if is_denied:
            return _not_executable(name)
        if elf.loader:
            if "musl" in elf.loader:
                return sentence(
                    f"{name} needs the loader of musl {elf.loader}, which is missing here: link it statically (-static)"
                )
            return sentence(
                f"{name} needs the loader {elf.loader}, which is missing here: link it statically (-static)"
            )
        return ""
    if head[:4] in _MACH_O or (head[:4] == _FAT and int.from_bytes(head[4:8], "big") < 40):
        return sentence(f"{name} is a program for macOS: compile it for Linux")
    if head[:2] == b"MZ":
        return sentence(f'{name} is a Windows program: set runtime = "wine" (or "mono" for .NET) in agent.toml')
    if head[:4] == b"PK\x03\x04":
        return sentence(
            f'{name} is a zip or jar file: start a jar by command = ["java", "-jar", "{name}"], runtime = "java"'
        )
    return _fault_of_text(name, file.suffix.lower(), head, is_denied=is_denied)


def _not_executable(name: str) -> str:
    return sentence(f"{name} is not executable: chmod +x {name}")


def _fault_of_text(name: str, suffix: str, head: bytes, *, is_denied: bool) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return sentence(f"{name} is UTF-16 text: save it as UTF-8")
    if head.startswith(codecs.BOM_UTF8 + b"#!"):
        return sentence(f"{name} has a byte order mark before #!: save it as UTF-8 without one")
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return sentence(f"{name} is a page of HTML, not the program: download the file itself")
    line = first_line(head)
    if line.endswith(b"\r"):
        return sentence(f"the first line of {name} ends in CR LF: save it with LF alone (dos2unix)")
    if line:
        words = line[2:].decode("utf-8", "replace").split()
        found = other_name(
            words[1] if words[:1] and words[0].endswith("/env") and len(words) > 1 else "".join(words[:1])
        )
        if found:
            return sentence(f"the first line of {name}: {found}")
        return _not_executable(name) if is_denied else ""
    start, runtime = _COMMANDS.get(suffix, ("", ""))
    if start:
        fix = f'command = ["{start}", "{name}"] and runtime = "{runtime}"'
        return sentence(f"{name} is a text that {start} runs: set {fix} in agent.toml")
    return sentence(f"{name} is not a program and has no first line #!: put the program that runs it first in command")


def _missing_file(program: Path, word: str) -> str:
    name = printable(word.removeprefix("./"), 60)
    files = [path for path in islice(own_paths(program), _MAX_FILES) if path.is_file()]
    names = [path.relative_to(program).as_posix() for path in files]
    if similar := similar_path(program, word.removeprefix("./")):
        return sentence(f"there is no {name} in the agent, but {printable(similar, 60)}: {CASE}")
    near = nearest(name, names)
    if any((program / makefile).is_file() for makefile in KINDS["make"]):
        return sentence(f"{name} is not built: run make first (judge submit builds it)")
    if near:
        return sentence(f"there is no {name} in the agent: did you mean {printable(near[0], 60)}?")
    if any(is_built(path.name) for path in files):
        return sentence(f"there is no {name} in the agent: build it first (judge submit does)")
    return sentence(f"there is no {name} in the agent: send it, or correct command in agent.toml")


def lfs_pointer(*files: Path) -> str:
    """Message on the first Git LFS pointer; empty if none."""
    for file in files:
        with suppress(OSError), file.open("rb") as stream:
            if stream.read(len(_LFS_POINTER)) == _LFS_POINTER:
                return sentence(
                    f"{printable(file.name, 60)} is a pointer of Git LFS, not the file itself: run git lfs pull, and "
                    "send that"
                )
    return ""


def pointers_of(program: Path) -> str:
    """As `lfs_pointer`, for all files of an agent."""
    files = (path for path in islice(own_paths(program), _MAX_FILES) if path.is_file())
    return lfs_pointer(*(path for path in files if path.stat().st_size < _MAX_LFS_POINTER_BYTES))


def processor_advice() -> str:
    """Advice on compiler flags for a missing instruction."""
    level = processor_level()
    here = sentence(f"this host's is {level}") if level else sentence(f"this host is {_host()}")
    fix = sentence(
        f"it has an instruction that the processor here does not have ({here}): compile it without -march=native"
    )
    if not level:
        return fix
    level = level if level != "x86-64-v4" else "x86-64-v3"
    march = sentence(f"or with -march={level}")
    return f"{fix}; {march}"


def processor_level() -> str:
    """Empty on other machines than x86-64."""
    if platform.machine() != "x86_64":
        return ""
    flags = processor_flags()
    return next((level for level, needed in _LEVELS if needed <= flags), "x86-64" if flags else "")


def processor_flags() -> frozenset[str]:
    """The flags that all processors of this host have; empty if they are unknown."""
    try:
        return parse_flags(read_bounded(CPUINFO, MAX_CPUINFO_BYTES).decode("ascii", "replace"))
    except InputError:
        return frozenset()


def parse_flags(text: str) -> frozenset[str]:
    """The flags that all processors in the text of /proc/cpuinfo have."""
    lines = dict.fromkeys(_FLAGS.findall(text))
    sets = [frozenset(word for word in line.split() if _FLAG.fullmatch(word)) for line in lines]
    return frozenset.intersection(*sets) if sets else frozenset()


def _host() -> str:
    return {"x86_64": "x86-64", "aarch64": sentence("ARM of 64 bits")}.get(platform.machine(), platform.machine())
