"""Sources whose build fails, and the line that their author needs.

NAME.log is the real output of the toolchain. `python -m tests.submissions.build_failures [NAME ...]` records it again.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

from judge.agents.builds import BuildTable, Sources, build_for
from judge.base.owner import owned_directory
from judge.sandbox import BoxPolicy
from judge.sandbox.runtimes import image_that_builds
from judge.submissions.intake import IntakeLimits
from judge.submissions.trees import Built, TaskHost, build_tree

FOLDER = Path(__file__).with_name("build_logs")
MAIN_C = "int main(void) { return 0; }\n"
USES_GO_MODULE = 'package main\n\nimport "example.org/y"\n\nfunc main() { y.F() }\n'
MAIN_GO = "package main\n\nfunc main() {}\n"
CARGO = '[package]\nname = "mine"\nversion = "0.1.0"\nedition = "2021"\n'
CMAKE = "cmake_minimum_required(VERSION 3.13)\nproject(mine)\nadd_executable(mine a.cpp)\n"
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>mine</groupId><artifactId>mine</artifactId>
<version>1</version><properties><maven.compiler.source>17</maven.compiler.source>
<maven.compiler.target>17</maven.compiler.target></properties>{rest}</project>
"""
MAIN_JAVA = "class Main { public static void main(String[] a) {} }\n"


@dataclass(frozen=True)
class Failure:
    """`reason` is part of the expected line, `fix` of the expected advice."""

    files: dict[str, str]
    reason: str
    fix: str = ""
    table: dict[str, object] = field(default_factory=dict)

    @property
    def table_of_build(self) -> BuildTable | None:
        return BuildTable.model_validate(self.table) if self.table else None


def lines(*text: str) -> str:
    return "".join(f"{line}\n" for line in text)


FAILURES: dict[str, Failure] = {
    # gcc and g++
    "c-undeclared": Failure({"a.c": "int main(void) { return x; }\n"}, "./a.c:1:25: error: 'x' undeclared"),
    "c-after-warnings": Failure(
        {"a.c": "int error_count(void) { int error; }\nint main(void) { retrun 0; }\n"},
        "./a.c:2:18: error: ",
        table={"kind": "c", "flags": ["-Wall"]},
    ),
    "c-header": Failure(
        {"a.c": '#include "board.h"\n' + MAIN_C},
        "./a.c:1:10: fatal error: board.h: No such file",
        "'board.h' is missing here and in the upload",
    ),
    "c-hash-error": Failure({"a.c": '#error "only for Windows"\n' + MAIN_C}, '#error "only for Windows"'),
    "c-no-main": Failure({"a.c": "int f(void) { return 1; }\n"}, "undefined reference to `main'"),
    "c-no-function": Failure({"a.c": "int f(void);\nint main(void) { return f(); }\n"}, "undefined reference to `f'"),
    "c-twice": Failure(
        {"a.c": "int f(void) { return 1; }\n" + MAIN_C, "b.c": "int f(void) { return 2; }\n"},
        "multiple definition of `f'",
    ),
    "c-two-mains": Failure(
        {"a.c": MAIN_C, "b.c": MAIN_C}, "multiple definition of `main'", "several files have a main: name the program's"
    ),
    "cpp-template": Failure(
        {
            "a.cpp": lines(
                "#include <algorithm>",
                "#include <list>",
                "int main() { std::list<int> l; std::sort(l.begin(), l.end()); }",
            )
        },
        "error: no match for 'operator-'",
    ),
    "cpp-standard": Failure(
        {"a.cpp": "#include <generator>\nint main() {}\n"}, "./a.cpp:1:10: fatal error: generator: No such file"
    ),
    "cpp-undefined": Failure(
        {"a.cpp": "struct A { void f(); };\nint main() { A().f(); }\n"}, "undefined reference to `A::f()'"
    ),
    "clang-type": Failure(
        {"a.cpp": 'int main() { int x = "a"; }\n'}, "./a.cpp:1:18: error: cannot initialize", table={"kind": "clang"}
    ),
    "clang-link": Failure(
        {"a.c": "int f(void);\nint main(void) { return f(); }\n"}, "undefined reference to `f'", table={"kind": "clang"}
    ),
    # make
    "make-blanks": Failure(
        {"Makefile": "all:\n        gcc -o mine a.c\n", "a.c": MAIN_C}, "Makefile:2: *** missing separator"
    ),
    "make-no-rule": Failure(
        {"Makefile": "mine: a.o b.o\n\tgcc -o mine a.o b.o\n", "a.c": MAIN_C},
        "No rule to make target 'b.o', needed by 'mine'",
    ),
    "make-no-target": Failure({"Makefile": "CC = gcc\n"}, "make: *** No targets."),
    "make-error": Failure(
        {"Makefile": "ifndef BOOST\n$(error set BOOST to its folder)\nendif\nall:\n"},
        "Makefile:2: *** set BOOST to its folder",
    ),
    "make-werror": Failure(
        {
            "Makefile": 'all:\n\t@echo "warnings: see a.log; error: none so far"\n\tgcc -Wall -Werror -o mine a.c\n',
            "a.c": "int main(void) { int x; return 0; }\n",
        },
        "a.c:1:22: error: unused variable 'x'",
    ),
    "make-library": Failure(
        {"Makefile": "mine: a.c\n\tgcc -o mine a.c -lncurses\n", "a.c": MAIN_C},
        "cannot find -lncurses",
        "ncurses is missing here: send its sources",
    ),
    "make-below": Failure(
        {
            "Makefile": "all:\n\t$(MAKE) -C src\n",
            "src/Makefile": "mine: a.c\n\tg++ -o mine a.c\n",
            "src/a.c": "int main() { return x; }\n",
        },
        "a.c:1:21: error: 'x' was not declared",
    ),
    "make-clang": Failure(
        {"Makefile": "mine: a.c\n\tclang-17 -o mine a.c\n", "a.c": MAIN_C},
        "clang-17: No such file or directory",
        '[build] kind = "clang"',
    ),
    "make-sudo": Failure(
        {"Makefile": "mine: a.c\n\tsudo apt-get install -y libfoo\n\tgcc -o mine a.c\n", "a.c": MAIN_C},
        "sudo: No such file or directory",
        "a Makefile cannot install anything here",
    ),
    "make-script": Failure(
        {"Makefile": "mine: a.c\n\t./configure\n", "a.c": MAIN_C, "configure": "#!/bin/sh\n"},
        "./configure: Permission denied",
    ),
    "make-python": Failure(
        {"Makefile": "mine: a.c\n\tpython3 table.py\n", "a.c": MAIN_C, "table.py": "import nothing\n"},
        "ModuleNotFoundError: No module named 'nothing'",
    ),
    # cmake
    "cmake-find": Failure(
        {"CMakeLists.txt": CMAKE + "find_package(Boost REQUIRED)\n", "a.cpp": "int main() {}\n"}, "Could NOT find Boost"
    ),
    "cmake-version": Failure(
        {"CMakeLists.txt": "cmake_minimum_required(VERSION 3.99)\nproject(mine)\n"}, "CMake 3.99 or higher is required"
    ),
    "cmake-message": Failure(
        {"CMakeLists.txt": CMAKE + 'message(FATAL_ERROR "clone with --recursive")\n', "a.cpp": "int main() {}\n"},
        "clone with --recursive",
    ),
    "cmake-source": Failure({"CMakeLists.txt": CMAKE}, "Cannot find source file"),
    "cmake-compile": Failure(
        {"CMakeLists.txt": CMAKE, "a.cpp": "int main() { return x; }\n"}, "a.cpp:1:21: error: 'x' was not declared"
    ),
    # go
    "go-unused": Failure(
        {"go.mod": "module mine\n\ngo 1.19\n", "main.go": 'package main\n\nimport "os"\n\nfunc main() {}\n'},
        './main.go:3:8: imported and not used: "os"',
    ),
    "go-undefined": Failure(
        {"main.go": "package main\n\nfunc main() { helper() }\n"}, "./main.go:3:15: undefined: helper"
    ),
    "go-syntax": Failure({"main.go": "package main\n\nfunc main() { if }\n"}, "./main.go:3:"),
    "go-version": Failure(
        {"go.mod": "module mine\n\ngo 1.22.3\n", "main.go": MAIN_GO}, "go.mod:3: invalid go version '1.22.3'", "go 1.19"
    ),
    "go-toolchain": Failure(
        {"go.mod": "module mine\n\ngo 1.21\n\ntoolchain go1.22.3\n", "main.go": MAIN_GO},
        "go.mod:5: unknown directive: toolchain",
        "leave out the line toolchain",
    ),
    "go-newer": Failure(
        {
            "go.mod": "module mine\n\ngo 1.22\n",
            "main.go": 'package main\n\nimport "slices"\n\nfunc main() { _ = slices.Max([]int{1}) }\n',
        },
        "main.go:3:8: package slices is not in GOROOT",
        "Go here is 1.19",
    ),
    "go-packages": Failure(
        {"board.go": "package board\n", "main.go": MAIN_GO}, "found packages board (board.go) and main (main.go) in"
    ),
    "go-programs": Failure(
        {"go.mod": "module mine\n", "cmd/engine/main.go": MAIN_GO, "cmd/server/main.go": MAIN_GO},
        '(./cmd/engine ./cmd/server): name one in agent.toml, [build] main = "./cmd/engine"',
    ),
    "go-no-program": Failure({"go.mod": "module mine\n", "board.go": "package board\n"}, "the main program is missing"),
    "go-vendor": Failure(
        {"go.mod": "module mine\n\ngo 1.19\n\nrequire example.org/y v1.0.0\n", "main.go": USES_GO_MODULE},
        "main.go:3:8: missing go.sum entry for module providing package example.org/y",
        "run `go mod vendor`",
    ),
    # C#
    "cs-member": Failure({"p.cs": "class P { static void Main() { System.Console.Wirte(1); } }\n"}, "error CS0117:"),
    "cs-type": Failure({"p.cs": "class P { static Board b; static void Main() {} }\n"}, "error CS0246:"),
    "cs-syntax": Failure({"p.cs": "class P { static void Main() { int x = 1 } }\n"}, "error CS1525:"),
    "cs-two-mains": Failure(
        {"p.cs": "class P { static void Main() {} }\n", "q.cs": "class Q { static void Main() {} }\n"},
        "error CS0017:",
        "-main:NAMESPACE.CLASS",
    ),
    # Pascal
    "pas-syntax": Failure(
        {"mine.pas": "program mine;\nbegin\n  writeln('x')\n  writeln('y');\nend.\n"},
        'Fatal: Syntax error, ";" expected',
    ),
    "pas-unit": Failure({"mine.dpr": "program mine;\nuses Windows;\nbegin\nend.\n"}, "Fatal: Can't find unit Windows"),
    "pas-name": Failure({"mine.pas": "program mine;\nbegin\n  x := 1;\nend.\n"}, 'Error: Identifier not found "x"'),
    # Java
    "java-symbol": Failure(
        {"Main.java": "class Main { public static void main(String[] a) { x(); } }\n"},
        "./Main.java:1: error: cannot find symbol",
    ),
    "java-package": Failure(
        {"Main.java": "import org.junit.Test;\n" + MAIN_JAVA}, "./Main.java:1: error: package org.junit does not exist"
    ),
    "maven-symbol": Failure(
        {"pom.xml": POM.format(rest=""), "src/main/java/Main.java": MAIN_JAVA.replace("{}", "{ x(); }")},
        "Main.java:[1,52] cannot find symbol",
    ),
    "maven-library": Failure(
        {
            "pom.xml": POM.format(
                rest="<dependencies><dependency><groupId>com.google.guava</groupId><artifactId>guava</artifactId><version>31.0</version></dependency></dependencies>"
            ),
            "src/main/java/Main.java": MAIN_JAVA,
        },
        "com.google.guava:guava:jar:31.0",
        "there is no network",
    ),
    "java-no-main": Failure({"A.java": "class A {}\n"}, "the main program is missing: name it in agent.toml"),
    "java-mains": Failure(
        {"A.java": MAIN_JAVA.replace("Main", "A"), "p/B.java": MAIN_JAVA.replace("Main", "B")},
        'name one in agent.toml, [build] main = "./A.java"',
    ),
    "maven-modules": Failure(
        {"pom.xml": "<project><modules><module>core</module></modules></project>\n"},
        'pom.xml has modules, and a project of one module is built: set in agent.toml [build] kind = "java"',
    ),
    "maven-broken": Failure(
        {"pom.xml": POM.format(rest="<dependencies>"), "src/main/java/Main.java": MAIN_JAVA}, "Non-parseable POM"
    ),
    # Rust
    "rust-type": Failure({"main.rs": 'fn main() { let x: u8 = "a"; }\n'}, "error[E0308]: mismatched types"),
    "rust-syntax": Failure({"main.rs": "fn main() { let x = ; }\n"}, "error: expected expression, found `;`"),
    "cargo-type": Failure(
        {"Cargo.toml": CARGO, "src/main.rs": "fn main() { y(); }\n"}, "error[E0425]: cannot find function `y`"
    ),
    "cargo-crate": Failure(
        {"Cargo.toml": CARGO + '[dependencies]\nrand = "0.8"\n', "src/main.rs": "fn main() {}\n", "vendor/README": ""},
        "error: no matching package named `rand` found",
        "run `cargo vendor`",
    ),
    "cargo-vendor": Failure(
        {"Cargo.toml": CARGO + '[dependencies]\nrand = "0.8"\n', "src/main.rs": "fn main() {}\n"},
        "error: no matching package named `rand` found",
        "run `cargo vendor`",
    ),
    "cargo-programs": Failure(
        {"Cargo.toml": CARGO, "src/main.rs": "fn main() {}\n", "src/bin/other.rs": "fn main() {}\n"},
        '2 could be the main program (mine other): name one in agent.toml, [build] main = "mine"',
    ),
    "cargo-no-program": Failure({"Cargo.toml": CARGO, "src/lib.rs": ""}, "no package has a src/main.rs"),
    "rust-files": Failure({"a.rs": "fn main() {}\n", "b.rs": ""}, "(./a.rs ./b.rs): name one"),
    "rust-link": Failure(
        {"main.rs": 'extern "C" {\n    fn nowhere();\n}\nfn main() { unsafe { nowhere() } }\n'},
        "undefined reference to `nowhere'",
    ),
    "cargo-edition": Failure({"Cargo.toml": CARGO.replace("2021", "2030"), "src/main.rs": "fn main() {}\n"}, "`2030`"),
    # all
    "c-none": Failure({"a.h": ""}, "there are no such sources", table={"kind": "c"}),
    "rust-main": Failure({"a.rs": ""}, '[build] main = "src/b.rs" is not there', table={"main": "src/b.rs"}),
    "python-none": Failure({"a.py": "", "b.py": ""}, "2 could be the main program (./a.py ./b.py): name one"),
    "pas-none": Failure({"a.pas": "unit a;\n"}, "the main program is missing"),
    # Python
    "python-syntax": Failure({"main.py": "def f(:\n    pass\n"}, "SyntaxError: main.py, line 1: invalid syntax"),
    "python-2": Failure(
        {"main.py": "import a\n", "a.py": 'print "x"\n'},
        "SyntaxError: a.py, line 1: Missing parentheses",
        "it is Python 2",
    ),
}


def build(name: str, room: Path) -> tuple[Built, str]:
    """The result, and the image that was used."""
    failure = FAILURES[name]
    tree = room / name
    for path, text in failure.files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    build = build_for(Sources(tree, "mine", table=failure.table_of_build))
    assert build
    host = TaskHost(BoxPolicy(freeze="none"), (), room)
    return build_tree(tree, build, room / f"{name}-built", IntakeLimits(), host), image_that_builds(build.kind)


def record(names: list[str]) -> None:
    """Write the logs."""
    with owned_directory() as room:
        for name in names or FAILURES:
            built, _ = build(name, room)
            (FOLDER / f"{name}.log").write_text(built.log)
            sys.stdout.write(f"{name}: {built.failure or 'NO FAILURE'}\n")


if __name__ == "__main__":
    record(sys.argv[1:])
