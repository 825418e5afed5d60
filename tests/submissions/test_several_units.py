"""Trees of several packages, projects or modules are built."""

from pathlib import Path

import pytest

from judge.agents.builds import BuildTable, Sources, build_for
from judge.base.errors import NotReadyError
from judge.submissions.intake import IntakeLimits
from judge.submissions.trees import TaskHost, build_tree

MAIN_GO = "package main\n\nfunc main() {}\n"
MAIN_JAVA = "package org.mine;\npublic class Main { public static void main(String[] a) {} }\n"
MEMBER = '[package]\nname = "NAME"\nversion = "0.1.0"\nedition = "2021"\n'
ASSEMBLY = 'using System.Reflection;\n[assembly: AssemblyTitle("x")]\n[assembly: AssemblyVersion("1.0")]\n'
WORKSPACE = {
    "Cargo.toml": '[workspace]\nmembers = ["board", "engine"]\n',
    "board/Cargo.toml": MEMBER.replace("NAME", "board"),
    "board/src/lib.rs": "pub const SIZE: u8 = 15;\n",
    "engine/Cargo.toml": MEMBER.replace("NAME", "engine") + '[dependencies]\nboard = { path = "../board" }\n',
    "engine/src/main.rs": 'fn main() { println!("{}", board::SIZE); }\n',
}
MODULES = {
    "pom.xml": "<project><modules><module>core</module><module>app</module></modules></project>\n",
    "core/src/main/java/Lib.java": "class Lib { static int one() { return 1; } }\n",
    "app/src/main/java/Main.java": "class Main { public static void main(String[] a) { Lib.one(); } }\n",
}
BUILT: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "Go packages without a module": ({"board/board.go": "package board\n", "engine/main.go": MAIN_GO}, {}),
    "Go program below its module": (
        {
            "go.mod": "module mine\n\ngo 1.19\n",
            "bot/main.go": 'package main\n\nimport "mine/board"\n\nfunc main() { board.New() }\n',
            "board/board.go": "package board\n\nfunc New() {}\n",
        },
        {},
    ),
    "Go tool beside the program": (
        {"go.mod": "module mine\n\ngo 1.19\n", "cmd/engine/main.go": MAIN_GO, "tools/gen/main.go": MAIN_GO},
        {},
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
    ),
    "Cargo workspace": (WORKSPACE, {}),
    "Cargo workspace, named": (WORKSPACE, {"main": "engine"}),
    "Maven modules, as Java": (MODULES, {"kind": "java"}),
    "JUnit test beside the program": (
        {
            "src/org/mine/Main.java": MAIN_JAVA,
            "src/org/mine/MainTest.java": "package org.mine;\nimport org.junit.*;\nclass MainTest { @Test int t; }\n",
        },
        {},
    ),
}


def laid(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.mark.docker
@pytest.mark.parametrize("name", ["mine", "engine"])
@pytest.mark.parametrize("case", BUILT)
def test_tree_of_several_units_is_built(case: str, name: str, task_host: TaskHost) -> None:
    files, table = BUILT[case]
    tree = laid(task_host.room / "sent", files)
    build = build_for(Sources(tree, name, table=BuildTable.model_validate(table) if table else None))
    assert build
    target = task_host.room / "built"
    try:
        built = build_tree(tree, build, target, IntakeLimits(), task_host)
    except NotReadyError as error:
        pytest.skip(str(error))

    assert "" == built.failure, built.log
    program = {"java": "Main.class", "c#": f"{name}.exe"}.get(build.kind, name)
    assert any(path.is_file() and path.name in (program, f"{name}.bin") for path in target.rglob("*"))
