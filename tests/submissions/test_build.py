"""Sources are built in a box: each language once, each attack once, the same bytes twice."""

import re
from pathlib import Path

import pytest

from judge.agents.builds import BuildTable, Sources, build_for
from judge.agents.program_files import program_digest
from judge.sandbox.machine.users import AGENT_IDS, FIRST_AGENT_ID
from judge.submissions.intake import BuildLimits, IntakeLimits, TreeLimits
from judge.submissions.trees import Built, TaskHost, build_of, build_tree

pytestmark = pytest.mark.docker

MIB = 1 << 20
LIMITS = IntakeLimits(
    tree=TreeLimits(total_bytes=8 * MIB, file_bytes=8 * MIB),
    build=BuildLimits(
        seconds=60,
        memory_bytes=192 * MIB,
        work_bytes=16 * MIB,
        scratch_bytes=16 * MIB,
        processes=40,
        log_bytes=1 * MIB,
        kept_log_bytes=4096,
    ),
)

C = "#include <stdio.h>\nint main(void) { puts(__DATE__ __TIME__ __FILE__); }\n"
CPP = '#include <iostream>\nextern "C" int one(void);\nint main() { std::cout << one(); }\n'
RUST = 'mod a;\nfn main() { println!("{}", a::ONE); }\n'
JAVA = "package p; class Main { public static void main(String[] w) { Runnable r = () -> {}; } }"

LANGUAGES = {
    "c": ({"main.c": C, "src/two.c": "int two(void) { return 2; }\n"}, "bot"),
    "c++": ({"main.cpp": CPP, "one.c": "int one(void) { return 1; }\n"}, "bot"),
    "rust": ({"src/main.rs": RUST, "src/a.rs": "pub const ONE: u8 = 1;\n"}, "bot"),
    "java": ({"p/Main.java": JAVA}, "p/Main.class"),
    "python": ({"bot.py": "print(1)\n"}, "bot.py"),
    "make": ({"Makefile": "bot: bot.c\n\tcc -static -o $@ $<\n", "bot.c": C}, "bot"),
}


def laid(task_host: TaskHost, files: dict[str, str], name: str = "sent") -> Path:
    tree = task_host.room / name
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    return tree


def built(task_host: TaskHost, files: dict[str, str], limits: IntakeLimits = LIMITS, **table: object) -> Built:
    tree = laid(task_host, files)
    build = build_for(Sources(tree, "bot", table=BuildTable.model_validate(table) if table else None))
    assert build
    return build_tree(tree, build, task_host.room / "built", limits, task_host)


def made(task_host: TaskHost, makefile: str, limits: IntakeLimits = LIMITS) -> Built:
    """What comes of a Makefile with these commands."""
    commands = "".join(f"\t{line}\n" for line in makefile.splitlines())
    return built(task_host, {"Makefile": f"all:\n{commands}"}, limits)


# --- what is built ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LANGUAGES)
def test_the_same_sources_make_the_same_agent(kind: str, task_host: TaskHost) -> None:
    files, program = LANGUAGES[kind]
    digests = []
    for turn in ("first", "second"):
        tree = laid(task_host, files, turn)
        build = build_for(Sources(tree, "bot"))
        assert build
        assert kind == build.kind
        come = build_tree(tree, build, task_host.room / f"{turn}-built", LIMITS, task_host)
        assert "" == come.failure, come.log
        assert (task_host.room / f"{turn}-built" / program).is_file()
        digests.append(program_digest(task_host.room / f"{turn}-built"))

    assert digests[0] == digests[1]


def test_names_of_files_are_words_and_nothing_more(task_host: TaskHost) -> None:
    names = ["-fplugin=x.c", "$(touch hacked).c", "a b;touch hacked;.c", "`touch hacked`.c", "@x.c"]
    files = {name: f"int f{number};\n" for number, name in enumerate(names)}

    come = built(task_host, {"main.c": C, **files})

    assert "" == come.failure, come.log
    assert not list((task_host.room / "built").rglob("hacked"))
    assert (task_host.room / "built" / "bot").stat().st_mode & 0o100


# --- what fails, and attacks ------------------------------------------------------------------------------------------


def test_an_error_is_in_the_log(task_host: TaskHost) -> None:
    come = built(task_host, {"main.c": "int main(void) { return x; }\n"})

    assert come.failure.startswith("the build failed: ./main.c:1:25: error: ")
    assert "main.c:1:25: error: 'x' undeclared" in come.log.replace("\u2018", "'").replace("\u2019", "'")
    assert not (task_host.room / "built").exists()


COMPLAINTS: dict[str, tuple[dict[str, bytes], str]] = {
    "UTF-16": (
        {"main.cpp": "int main() {}\n".encode("utf-16")},
        "'main.cpp' is UTF-16: save it as UTF-8",
    ),
    "windows": (
        {"main.cpp": b"#include <windows.h>\nint main() {}\n"},
        "windows.h belongs to Windows: send the .exe, or sources for Linux",
    ),
    "elsewhere": (
        {"main.c": b'#include "x/y.h"\nint main(void) {}\n', "ext/lib/x/y.h": b""},
        '[build] flags = ["-I./ext/lib"]',
    ),
    "gone": (
        {"main.c": b'#include "json.h"\nint main(void) {}\n'},
        "'json.h' is missing here and in the upload",
    ),
    "Latin-1": (
        {"Main.java": "class Main { String é; public static void main(String[] w) {} }".encode("latin-1")},
        '[build] flags = ["-encoding", "ISO-8859-1"]',
    ),
    "a library in Java": (
        {"Main.java": b"class Main { org.example.Words w; public static void main(String[] a) {} }"},
        "org.example is missing in Java and in the upload: send its .jar files",
    ),
    "a makefile elsewhere": (
        {"Makefile": b"all: x.o\nx.o: x.cpp\n", "src/x.cpp": "int main() {}".encode("utf-16")},
        "make: *** No rule to make target 'x.cpp'",
    ),
    "a tool that make has not": ({"Makefile": b"all:\n\tcd . && cmake ..\n"}, '[build] kind = "cmake"'),
    "another": ({"Makefile": b"all:\n\tpyinstaller main.py\n"}, "send it without the Makefile"),
    "linker": (
        {"main.c": b"int f(void);\nint main(void) { return f(); }\n"},
        "undefined reference to `f'",
    ),
    "rust": ({"main.rs": b"fn main() { x }\n"}, "error[E0425]: cannot find value `x`"),
    "a module for Python 2": (
        {"main.py": b"import board\n", "board.py": b"print 'x'\n"},
        'runtime = "python2"',
    ),
}
"""What is sent, and what its author has to hear."""


@pytest.mark.parametrize("case", COMPLAINTS)
def test_first_error_and_its_fix_are_reported(task_host: TaskHost, case: str) -> None:
    files, words = COMPLAINTS[case]
    tree = task_host.room / "sent"
    for name, content in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(content)
    build = build_for(Sources(tree, "bot"))
    assert build

    come = build_tree(tree, build, task_host.room / "built", LIMITS, task_host)

    assert come.failure.startswith("the build failed: ")
    assert words in come.failure


ASIDE: dict[str, tuple[dict[str, bytes], str]] = {
    "a tool with a main of its own": (
        {"main.c": b"int main(void) {}\n", "gen.c": b"int main(void) {}\n"},
        "bot",
    ),
    "a tool with a main, named": (
        {
            "a.c": b"int main(void) {}\n",
            "b.c": b"int main(void) {}\n",
            "agent.toml": b'[build]\nmain = "b.c"\n',
        },
        "bot",
    ),
    "a tool that does not compile": (
        {"bot.cpp": b"int main() {}\n", "tools/x.cpp": b"#include <qt.h>\nint main() {}\n", "tests/y.c": b"int main(;"},
        "bot",
    ),
    "tests in Java": (
        {"Main.java": b"class Main { public static void main(String[] w) {} }", "test/T.java": b"import org.junit.*;"},
        "Main.class",
    ),
    "Python 2": ({"main.py": b"print('x')\n", "tools/convert.py": b"print 'x'\n", "old.py": b"print 'x'\n"}, "main.py"),
    "a NUL": ({"main.py": b"print('x')\n", "data.py": b"\0\5\x16\7"}, "main.py"),
    "modules that may be missing": (
        {"main.py": b"try:\n import old\nexcept Exception:\n pass\n", "old.py": b"print 'x'\n"},
        "main.py",
    ),
}
"""Sources beside a program that play no part in it."""


@pytest.mark.parametrize("case", ASIDE)
def test_sources_that_play_no_part_decide_nothing(task_host: TaskHost, case: str) -> None:
    files, program = ASIDE[case]
    tree = laid(task_host, {})
    for name, content in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(content)
    build = build_of(tree, "bot")
    assert build

    come = build_tree(tree, build, task_host.room / "built", LIMITS, task_host)

    assert "" == come.failure
    assert (task_host.room / "built" / program).is_file()


def test_program_error_is_reported_when_all_attempts_fail(task_host: TaskHost) -> None:
    files = {"main.c": "int main(void) { return x; }\n", "tools/gen.c": '#include "none.h"\n'}

    come = built(task_host, files)

    assert "./main.c:1:25: error: " in come.failure
    assert "none.h" not in come.failure


def test_an_error_in_a_module_of_python_has_its_file_and_line(task_host: TaskHost) -> None:
    files = {"main.py": "from lib.deep import board\n", "lib/deep/board.py": "x = 1\ndef f(:\n"}

    come = built(task_host, files)

    assert "SyntaxError: lib/deep/board.py, line 2: invalid syntax" in come.failure


INCLUDES = {
    "/dev/zero": "the build took more memory than it may",
    "/etc/shadow": "the build failed: ./main.c:1:10: fatal error: /etc/shadow: No such file",
}


@pytest.mark.parametrize("path", INCLUDES)
def test_included_file_is_not_read_from_the_host(path: str, task_host: TaskHost) -> None:  # H4
    come = built(task_host, {"main.c": f'#include "{path}"\nint main(void) {{}}\n'})

    assert come.failure.startswith(INCLUDES[path])
    assert "root:" not in come.log


FLOOD = """
template<int N> struct A { static int f() { return A<N-1>::f() + A<N-2>::g(); }
    static int g() { typename A<N-1>::nothing x; return A<N+1>::f(); } };
int main() { return A<800>::f(); }
"""


def test_a_flood_of_errors_is_cut(task_host: TaskHost) -> None:  # H5
    few = LIMITS.model_copy(update={"build": LIMITS.build.model_copy(update={"log_bytes": 20_000})})

    come = built(task_host, {"main.cpp": FLOOD}, few)

    assert "the build printed more than 20000 bytes" == come.failure
    assert "bytes are left out here]" in come.log
    assert len(come.log) < 8192


def test_a_compiler_bomb_ends_at_the_cap(task_host: TaskHost) -> None:  # H5, H7
    come = built(task_host, {"main.c": "int big[1 << 28] = {1};\nint main(void) { return big[0]; }\n"})

    assert come.failure.startswith("the build failed: ")
    assert "File size limit exceeded" in come.log


def test_a_build_without_end_is_ended(task_host: TaskHost) -> None:
    come = made(task_host, "@echo begun; while :; do :; done", hasty(2))

    assert "the build took more than 2 s" == come.failure
    assert come.log.endswith("begun")


def test_endlessly_forking_build_leaves_no_process(task_host: TaskHost) -> None:
    """`task_host` looks for what is left. Make's shell forks, too, until it is refused; then it ends."""
    come = made(task_host, "@bash -c ':(){ :|:& };:'; while (:); do :; done", hasty(60))

    assert come.failure.startswith("the build failed: ")
    assert re.search("fork: retry: Resource temporarily unavailable|Cannot fork", come.log)


def hasty(seconds: float) -> IntakeLimits:
    """The same limits, but for the time."""
    return LIMITS.model_copy(update={"build": LIMITS.build.model_copy(update={"seconds": seconds})})


def test_a_build_reaches_nothing(task_host: TaskHost) -> None:  # H6, H10
    come = made(
        task_host,
        "-@echo x > /agent/input/Makefile\n"
        "-@echo x > /usr/bin/cc\n"
        "-@chmod u+s /home/agent/tree/Makefile && ls -l Makefile\n"
        "-@ls /var/run/docker.sock /root\n"
        "-@bash -c 'echo x > /dev/tcp/127.0.0.1/80'\n"
        "@id -u; ls /sys/class/net; cat /proc/self/attr/current; echo $$(ls /proc | grep -c '^[0-9]')",
    )

    assert "Read-only file system" in come.log
    assert "No such file or directory" in come.log
    assert "/dev/tcp" in come.log
    user = int(come.log.splitlines()[-4])
    assert user in range(FIRST_AGENT_ID, FIRST_AGENT_ID + AGENT_IDS)


def test_built_program_is_not_run_where_it_is_built(task_host: TaskHost) -> None:  # H7
    come = built(task_host, {"Makefile": "all:\n\tcc -o gen gen.c\n\t./gen\n", "gen.c": C})

    assert come.failure.startswith("the build failed")
    assert "Permission denied" in come.log


ATTACKS = {
    "kill -9 $$PPID; kill -9 -1": None,
    "dd if=/dev/zero of=big bs=1M count=64": "a file may have 8388608",
    "dd if=/dev/zero of=big bs=1M count=9": "a file may have 8388608",
    "echo not what the builder says > /io/out": "the output of the box is no plain tar file",
    "ln -s /etc/passwd link": "'link' is a link that leads to no file of the directory",
    "ln -s . link": "'link' is a link that leads to no file of the directory",
    "ln -s link link": "'link' is a link that leads to no file of the directory",
    "mkfifo pipe": None,
    "touch a A": "one name on a file system without case",
    "touch $$(printf 'a\\377')": "not UTF-8",
    "for i in $$(seq 5000); do : > f$$i; done": "more than 4096 files and directories",
    "mv Makefile /tmp; rm -r /home/agent/tree; ln -s / /home/agent/tree": "is a link that leads to no file",
}


@pytest.mark.parametrize("command", ATTACKS)
def test_a_makefile_that_attacks_fails_clearly_or_is_harmless(command: str, task_host: TaskHost) -> None:  # H6
    come = made(task_host, f"-@bash -c '{command}'" if "'" not in command else f"-@{command}")

    expected = ATTACKS[command]
    if expected is not None:
        assert expected in come.failure, (come.failure, come.log)
    if not come.failure:
        assert {"Makefile"} == {path.name for path in (task_host.room / "built").rglob("*")}


def test_build_output_is_only_displayed(task_host: TaskHost) -> None:
    come = made(task_host, "@printf '\\033[2Jred\\033[31m \\377 \\r\\n<b>tag</b>\\a'; false")

    assert "\x1b" not in come.log
    assert "\\x1b[2Jred\\x1b[31m \\xff" in come.log
    assert all(line.isprintable() for line in come.log.split("\n"))


def test_a_link_that_a_build_makes_is_replaced_by_its_file(task_host: TaskHost) -> None:
    come = built(task_host, {"Makefile": "all:\n\tln -s src/*.py .\n", "src/board.py": "SIZE = 20\n"})

    assert not come.failure, come.log
    link = task_host.room / "built" / "board.py"
    assert "SIZE = 20\n" == link.read_text()
    assert not link.is_symlink()
