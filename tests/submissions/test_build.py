"""Sources are built in a box: each language once, each attack once, the same bytes twice."""

import re

import pytest

from judge.agents.program_files import program_digest
from judge.base.errors import NotReadyError
from judge.sandbox.machine.users import AGENT_IDS, FIRST_AGENT_ID
from judge.submissions.intake import BuildLimits, IntakeLimits, TreeLimits
from judge.submissions.trees import Built, TaskHost
from tests.examples import of_evidence, of_lanes
from tests.submissions.building import Files, built

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


def limited(**build: object) -> IntakeLimits:
    return LIMITS.model_copy(update={"build": LIMITS.build.model_copy(update=build)})


def made(task_host: TaskHost, makefile: str, limits: IntakeLimits = LIMITS) -> Built:
    """What comes of a Makefile with these commands."""
    commands = "".join(f"\t{line}\n" for line in makefile.splitlines())
    return built(task_host, {"Makefile": f"all:\n{commands}"}, limits)


C = "#include <stdio.h>\nint main(void) { puts(__DATE__ __TIME__ __FILE__); }\n"
CPP = '#include <iostream>\nextern "C" int one(void);\nint main() { std::cout << one(); }\n'
RUST = 'mod a;\nfn main() { println!("{}", a::ONE); }\n'
JAVA = "package p; class Main { public static void main(String[] w) { Runnable r = () -> {}; } }"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>player</artifactId><version>1.0</version>
  <properties>
    <maven.compiler.release>11</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
</project>
"""
MAIN_JAVA = "class Main { public static void main(String[] w) {} }"
MAVEN_MAIN = "src/main/java/p/Main.java"

LANGUAGES: dict[str, tuple[Files, str]] = {
    "c": ({"main.c": C, "src/two.c": "int two(void) { return 2; }\n"}, "bot"),
    "c++": ({"main.cpp": CPP, "one.c": "int one(void) { return 1; }\n"}, "bot"),
    "rust": ({"src/main.rs": RUST, "src/a.rs": "pub const ONE: u8 = 1;\n"}, "bot"),
    "java": ({"p/Main.java": JAVA}, "p/Main.class"),
    "python": ({"bot.py": "print(1)\n"}, "bot.py"),
    "make": ({"Makefile": "bot: bot.c\n\tcc -static -o $@ $<\n", "bot.c": C}, "bot"),
    "maven": ({"pom.xml": POM, MAVEN_MAIN: JAVA}, "target/player-1.0.jar"),
}


@pytest.mark.parametrize("kind", LANGUAGES)
def test_the_same_sources_make_the_same_agent(kind: str, task_host: TaskHost) -> None:
    files, program = LANGUAGES[kind]
    digests = set()
    for to in ("first", "second"):
        come = built_or_skipped(task_host, files, to=to)
        assert "" == come.failure, come.log
        assert (task_host.room / to / program).is_file()
        digests.add(program_digest(task_host.room / to))

    assert 1 == len(digests)


def built_or_skipped(task_host: TaskHost, files: Files, **options: object) -> Built:
    try:
        return built(task_host, files, LIMITS, **options)  # type: ignore[arg-type]
    except NotReadyError as error:
        pytest.skip(str(error))


MAIN_C = "int main(void) {}\n"
MAIN_GO = "package main\n\nfunc main() {}\n"
GO_MODULE = "module mine\n\ngo 1.19\n"
MEMBER = '[package]\nname = "NAME"\nversion = "0.1.0"\nedition = "2021"\n'
ASSEMBLY = 'using System.Reflection;\n[assembly: AssemblyTitle("x")]\n[assembly: AssemblyVersion("1.0")]\n'
WORKSPACE = {
    "Cargo.toml": '[workspace]\nmembers = ["board", "engine"]\n',
    "board/Cargo.toml": MEMBER.replace("NAME", "board"),
    "board/src/lib.rs": "pub const SIZE: u8 = 15;\n",
    "engine/Cargo.toml": MEMBER.replace("NAME", "engine") + '[dependencies]\nboard = { path = "../board" }\n',
    "engine/src/main.rs": 'fn main() { println!("{}", board::SIZE); }\n',
}
SEVERAL_UNITS: dict[str, tuple[Files, dict[str, str], str]] = {
    "Go packages without a module": ({"board/board.go": "package board\n", "engine/main.go": MAIN_GO}, {}, ""),
    "Go program below its module": (
        {
            "go.mod": GO_MODULE,
            "bot/main.go": 'package main\n\nimport "mine/board"\n\nfunc main() { board.New() }\n',
            "board/board.go": "package board\n\nfunc New() {}\n",
        },
        {},
        "",
    ),
    "Go tool beside the program": (
        {"go.mod": GO_MODULE, "cmd/engine/main.go": MAIN_GO, "tools/gen/main.go": MAIN_GO},
        {},
        "",
    ),
    "C# solution": (
        {
            "App/P.cs": "class P { static void Main() { System.Console.WriteLine(Lib.One); } }\n",
            "App/Properties/AssemblyInfo.cs": ASSEMBLY,
            "Lib/Lib.cs": "public class Lib { public const int One = 1; }\n",
            "Lib/Properties/AssemblyInfo.cs": ASSEMBLY,
            "Lib.Tests/LibTest.cs": "using NUnit.Framework;\n[TestFixture] class LibTest {}\n",
        },
        {},
        ".exe",
    ),
    "Cargo workspace": (WORKSPACE, {}, ""),
    "Cargo workspace, named": (WORKSPACE, {"main": "engine"}, ""),
    "Maven modules, as Java": (
        {
            "pom.xml": "<project><modules><module>core</module><module>app</module></modules></project>\n",
            "core/src/main/java/Lib.java": "class Lib { static int one() { return 1; } }\n",
            "app/src/main/java/Main.java": MAIN_JAVA.replace("{}", "{ Lib.one(); }"),
        },
        {"kind": "java"},
        "Main.class",
    ),
    "JUnit test beside the program": (
        {
            "src/org/mine/Main.java": f"package org.mine;\npublic {MAIN_JAVA}",
            "src/org/mine/MainTest.java": "package org.mine;\nimport org.junit.*;\nclass MainTest { @Test int t; }\n",
        },
        {},
        "Main.class",
    ),
    # Sources beside a program that play no part in it.
    "tool with a main": ({"main.c": MAIN_C, "gen.c": MAIN_C}, {}, ""),
    "tool with a main, named": ({"a.c": MAIN_C, "b.c": MAIN_C}, {"main": "b.c"}, ""),
    "tool that does not compile": (
        {"bot.cpp": "int main() {}\n", "tools/x.cpp": "#include <qt.h>\nint main() {}\n", "tests/y.c": "int main(;"},
        {},
        "",
    ),
    "tests in Java": ({"Main.java": MAIN_JAVA, "test/T.java": "import org.junit.*;"}, {}, "Main.class"),
    "Python 2": (
        {"main.py": "print('x')\n", "tools/convert.py": "print 'x'\n", "old.py": "print 'x'\n"},
        {},
        "main.py",
    ),
    "a NUL": ({"main.py": "print('x')\n", "data.py": b"\0\5\x16\7"}, {}, "main.py"),
    "modules that may be missing": (
        {"main.py": "try:\n import old\nexcept Exception:\n pass\n", "old.py": "print 'x'\n"},
        {},
        "main.py",
    ),
}
"""What is sent, its [build], and the program, or what follows the name of the agent in that of the program."""


@pytest.mark.parametrize("name", ["mine", *of_evidence("engine")])
@pytest.mark.parametrize("case", SEVERAL_UNITS)
def test_tree_of_several_units_is_built(case: str, name: str, task_host: TaskHost) -> None:
    files, table, program = SEVERAL_UNITS[case]

    come = built_or_skipped(task_host, files, name=name, **table)

    assert "" == come.failure, come.log
    expected = name + program if program in ("", ".exe") else program
    found = {path.name for path in (task_host.room / "built").rglob("*") if path.is_file()}
    assert found & {expected, f"{name}.bin"}


def test_names_of_files_are_words_and_nothing_more(task_host: TaskHost) -> None:
    names = ["-fplugin=x.c", "$(touch hacked).c", "a b;touch hacked;.c", "`touch hacked`.c", "@x.c"]
    files = {name: f"int f{number};\n" for number, name in enumerate(names)}

    come = built(task_host, {"main.c": C, **files}, LIMITS)

    assert "" == come.failure, come.log
    assert not list((task_host.room / "built").rglob("hacked"))
    assert (task_host.room / "built" / "bot").stat().st_mode & 0o100


def test_a_link_that_a_build_makes_is_replaced_by_its_file(task_host: TaskHost) -> None:
    come = built(task_host, {"Makefile": "all:\n\tln -s src/*.py .\n", "src/board.py": "SIZE = 20\n"}, LIMITS)

    assert not come.failure, come.log
    link = task_host.room / "built" / "board.py"
    assert "SIZE = 20\n" == link.read_text()
    assert not link.is_symlink()


PLUGIN = (
    "<build><plugins><plugin><artifactId>maven-compiler-plugin</artifactId><version>99.0</version></plugin></plugins>"
    "</build></project>"
)
USES_LIBRARY = "class Main { org.example.Words w; public static void main(String[] a) {} }"
COMPLAINTS: dict[str, tuple[Files, str]] = {
    "UTF-16": ({"main.cpp": "int main() {}\n".encode("utf-16")}, "'main.cpp' is UTF-16: save it as UTF-8"),
    "elsewhere": (
        {"main.c": '#include "x/y.h"\nint main(void) {}\n', "ext/lib/x/y.h": ""},
        '[build] flags = ["-I./ext/lib"]',
    ),
    "Latin-1": (
        {"Main.java": "class Main { String é; public static void main(String[] w) {} }".encode("latin-1")},
        '[build] flags = ["-encoding", "ISO-8859-1"]',
    ),
    "a library in Java": (
        {"Main.java": USES_LIBRARY},
        "org.example is missing in Java and in the upload: send its .jar files",
    ),
    "a library in Maven": (
        {"pom.xml": POM, "src/main/java/Main.java": USES_LIBRARY},
        "org.example is missing in Java and in the upload",
    ),
    "a plugin of Maven": (
        {"pom.xml": POM.replace("</project>", PLUGIN), "src/main/java/Main.java": MAIN_JAVA},
        "leave out the versions of plugins",
    ),
    "a makefile elsewhere": (
        {"Makefile": "all: x.o\nx.o: x.cpp\n", "src/x.cpp": "int main() {}".encode("utf-16")},
        "make: *** No rule to make target 'x.cpp'",
    ),
    "a tool that make has not": ({"Makefile": "all:\n\tcd . && cmake ..\n"}, '[build] kind = "cmake"'),
    "another": ({"Makefile": "all:\n\tpyinstaller main.py\n"}, "send it without the Makefile"),
    "a module for Python 2": ({"main.py": "import board\n", "board.py": "print 'x'\n"}, 'runtime = "python2"'),
    "an error in a module of Python": (
        {"main.py": "from lib.deep import board\n", "lib/deep/board.py": "x = 1\ndef f(:\n"},
        "SyntaxError: lib/deep/board.py, line 2: invalid syntax",
    ),
    "a tool beside the program": (
        {"main.c": "int main(void) { return x; }\n", "tools/gen.c": '#include "none.h"\n'},
        "./main.c:1:25: error: ",
    ),
}
"""What is sent, and what its author has to hear. `build_failures` has more, one of each message of a tool."""

OF_FULL_LANE = ("UTF-16", "elsewhere", "an error in a module of Python", "a tool beside the program")
"""What a build decides; the advice for a line of its log is in tests/submissions/test_complaints.py."""


@pytest.mark.parametrize("case", of_lanes(COMPLAINTS, OF_FULL_LANE))
def test_first_error_and_its_fix_are_reported(task_host: TaskHost, case: str) -> None:
    files, words = COMPLAINTS[case]

    come = built_or_skipped(task_host, files)

    assert come.failure.startswith("the build failed: ")
    assert words in come.failure
    assert "none.h" not in come.failure
    assert not (task_host.room / "built").exists()


INCLUDES = {
    "/dev/zero": "the build took more memory than it may",
    "/etc/shadow": "the build failed: ./main.c:1:10: fatal error: /etc/shadow: No such file",
}


@pytest.mark.parametrize("path", INCLUDES)
def test_included_file_is_not_read_from_the_host(path: str, task_host: TaskHost) -> None:  # H4
    come = built(task_host, {"main.c": f'#include "{path}"\nint main(void) {{}}\n'}, LIMITS)

    assert come.failure.startswith(INCLUDES[path])
    assert "root:" not in come.log


FLOOD = """
template<int N> struct A { static int f() { return A<N-1>::f() + A<N-2>::g(); }
    static int g() { typename A<N-1>::nothing x; return A<N+1>::f(); } };
int main() { return A<800>::f(); }
"""


def test_a_flood_of_errors_is_cut(task_host: TaskHost) -> None:  # H5
    come = built(task_host, {"main.cpp": FLOOD}, limited(log_bytes=20_000))

    assert "the build printed more than 20000 bytes" == come.failure
    assert "bytes are left out here]" in come.log
    assert len(come.log) < 8192


ENDED: dict[str, tuple[Files, IntakeLimits, str, str]] = {
    "a compiler bomb": (  # H5, H7
        {"main.c": "int big[1 << 28] = {1};\nint main(void) { return big[0]; }\n"},
        LIMITS,
        "the build failed: ",
        "File size limit exceeded",
    ),
    "a build without end": (
        {"Makefile": "all:\n\t@echo begun; while :; do :; done"},
        limited(seconds=2),
        "the build took more than 2 s",
        "begun$",
    ),
    # `task_host` looks for what is left. Make's shell forks, too, until it is refused; then it ends.
    "an endlessly forking build": (
        {"Makefile": "all:\n\t@bash -c ':(){ :|:& };:'; while (:); do :; done"},
        limited(seconds=60),
        "the build failed: ",
        "fork: retry: Resource temporarily unavailable|Cannot fork",
    ),
    "a built program that is run": (  # H7
        {"Makefile": "all:\n\tcc -o gen gen.c\n\t./gen\n", "gen.c": C},
        LIMITS,
        "the build failed",
        "Permission denied",
    ),
}
"""What is sent, its limits, how the failure begins, and a pattern of the log."""


@pytest.mark.parametrize("case", ENDED)
def test_build_beyond_its_limits_is_ended(case: str, task_host: TaskHost) -> None:
    files, limits, failure, log = ENDED[case]

    come = built(task_host, files, limits)

    assert come.failure.startswith(failure)
    assert re.search(log, come.log), come.log


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


ATTACKS = {
    "kill -9 $$PPID; kill -9 -1": None,
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


@pytest.mark.parametrize("command", of_lanes(ATTACKS, list(ATTACKS)[:4]))
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
