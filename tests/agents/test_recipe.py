"""Which build applies to what was sent."""

import platform
from pathlib import Path

import pytest

from judge.agents.recipe import BuildRecipe, BuildTable, Sources, recipe_for
from judge.base.errors import InputError
from judge.translations.language import CODES, languages

MAIN = "class {} {{ public static void main(String[] words) {{}} }}"


def laid(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "tree"


def recipe(tmp_path: Path, files: dict[str, str], *command: str, **table: object) -> BuildRecipe | None:
    build = BuildTable.model_validate(table) if table else None
    return recipe_for(Sources(laid(tmp_path, files), "mine", command, build))


def words(found: BuildRecipe | None) -> tuple[str, ...]:
    assert found is not None
    assert len(found.commands) == 1
    return found.commands[0]


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"a.c": "", "lib/b.c": "", "b.h": ""}, "c"),
        ({"a.cpp": "", "b.c": "", "train.py": ""}, "c++"),
        ({"src/main.rs": "", "src/board.rs": ""}, "rust"),
        ({"Main.java": MAIN.format("Main")}, "java"),
        ({"bot.py": ""}, "python"),
        ({"Makefile": "", "a.c": "", "B.java": ""}, "make"),
        ({"Makefile": "", "CMakeLists.txt": ""}, "make"),
        ({"Makefile": "all:\n\tcargo build", "Cargo.toml": "[package]\nname = 'x'", "src/main.rs": ""}, "cargo"),
        (
            {
                "Makefile": "CARGO\t\t=\tcargo\r\n\r\nall:\r\n\t$(CARGO) build --release\r\n",
                "Cargo.toml": "[package]\nname = 'x'",
                "src/main.rs": "",
            },
            "cargo",
        ),
        (
            {"Makefile": "C := cargo\nall:\n\t$C build", "Cargo.toml": "[package]\nname = 'x'", "src/main.rs": ""},
            "cargo",
        ),
        ({"Makefile": "all:\n\trustc main.rs", "Cargo.toml": "[package]\nname = 'x'", "main.rs": ""}, "make"),
        ({"CMakeLists.txt": "", "a.cpp": "", "tool.go": ""}, "cmake"),
        ({"Cargo.toml": "[package]\nname = 'x'", "src/main.rs": ""}, "cargo"),
        ({"go.mod": "module x", "main.go": "", "c.c": ""}, "go"),
        ({"a.go": "", "b.go": "", "train.py": ""}, "go"),
        ({"pom.xml": "", "src/main/java/p/Main.java": MAIN.format("Main")}, "maven"),
        ({"Brain.cs": "", "page.js": ""}, "c#"),
        ({"a.c": "", "Tool.cs": "", "x.pas": ""}, "c"),
        ({"brain.pas": "program brain;", "board.pas": "unit board;"}, "pascal"),
        ({"bot.py": "", "page.js": ""}, "python"),
        ({"index.js": "", "board.js": ""}, "javascript"),
        ({"main.py": "", "tools/fast.c": ""}, "python"),
        ({"main.cpp": "", "tools/gen.rs": "", "tests/T.java": ""}, "c++"),
        ({"main.c": "", "lib/x.rs": ""}, "c"),
        ({"src/a.c": "", ".git/hooks/x.rs": ""}, "c"),
    ],
)
def test_source_tree_determines_the_build(tmp_path: Path, files: dict[str, str], kind: str) -> None:
    found = recipe(tmp_path, files)

    assert found
    assert kind == found.kind


def test_table_without_kind_adds_to_the_detected_build(tmp_path: Path) -> None:
    found = recipe(tmp_path, {"Main.java": MAIN.format("Main")}, flags=["-encoding", "ISO-8859-1"])

    assert found
    assert "java" == found.kind
    assert "ISO-8859-1" in words(found)


def test_table_without_a_build_reports_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\[build\] of agent.toml: there is no source that is built here"):
        recipe(tmp_path, {"notes.txt": ""}, flags=["-O3"])


def test_detected_manifest_fills_missing_keys(tmp_path: Path) -> None:
    files = {"Main.java": MAIN.format("Main")}
    sources = Sources(laid(tmp_path, files), "mine", said=frozenset({"name", "author"}))

    found = recipe_for(sources)

    assert found
    assert 'command = ["java", "-cp", ".", "Main"]\nruntime = "java"\n' == found.manifest


def test_every_source_is_a_word_that_is_no_option(tmp_path: Path) -> None:
    names = ["-o.c", "$(reboot).c", "a b;c.c", "`x`.c", "@file.c"]

    found = recipe(tmp_path, dict.fromkeys(names, ""))

    assert sorted(f"./{name}" for name in names) == [word for word in words(found) if word.endswith(".c")]
    assert ("-o", "./mine") == words(found)[3:5]


def test_a_tree_without_manifest_gets_one(tmp_path: Path) -> None:
    found = recipe(tmp_path, {"p/Main.java": f"package p.q;\n{MAIN.format('Main')}"})

    assert found
    assert 'name = "mine"\ncommand = ["java", "-cp", ".", "p.q.Main"]\nruntime = "java"\n' == found.manifest


def test_playable_folder_is_not_built(tmp_path: Path) -> None:
    assert recipe(tmp_path, {"run": "", "run.c": ""}, "./run") is None
    assert recipe(tmp_path, {"bot.py": ""}, "python3", "bot.py") is None
    assert recipe(tmp_path, {"Bot.class": "", "Bot.java": ""}, "java", "Bot") is None
    assert recipe(tmp_path / "empty", {"notes.txt": ""}) is None


def test_named_target_is_built(tmp_path: Path) -> None:
    found = recipe(tmp_path, {"a.c": ""}, "./bin/run", "--fast")

    assert "./bin/run" in words(found)
    assert found
    assert "" == found.manifest


def test_the_table_decides_where_there_is_one(tmp_path: Path) -> None:
    files = {"a.c": "", "Makefile": "", "run": ""}

    found = recipe(tmp_path, files, "./run", kind="c", flags=["-O3"])

    assert ("gcc", "-O2", "-static", "-O3", "-o", "./run", "./a.c") == words(found)[:7]


@pytest.mark.parametrize(
    ("files", "table", "why"),
    [
        ({"a.c": "", "b.rs": ""}, {}, r'sources of c and rust: .*\[build\] kind = "c"'),
        (
            {"a.c": ""},
            {"kind": "rust"},
            'build.kind = "rust", but there is no file that ends in .rs',
        ),
        ({"a.c": ""}, {"kind": "make"}, "there is no Makefile"),
        ({"a.rs": "", "b.rs": ""}, {}, "src/main.rs is missing"),
        ({"a.py": "", "b.py": ""}, {}, "main.py is missing"),
        ({"A.java": ""}, {}, "no class has a main method"),
        ({"A.java": MAIN.format("A"), "B.java": MAIN.format("B")}, {}, "2 classes have a main"),
        ({"a.rs": ""}, {"kind": "rust", "main": "/etc/passwd"}, "is no source file of the tree"),
        (
            {"src/main.rs": "", "Cargo.toml": "[package]\nname = 'x'\n[dependencies]\nrand = '1'"},
            {},
            "run `cargo vendor`",
        ),
        (
            {"src/main.rs": "", "Cargo.toml": "[package]\nname = 'x'", "build.rs": ""},
            {"kind": "rust"},
            'only Cargo runs build.rs: set kind = "cargo"',
        ),
        (
            {"src/main.rs": "", "Cargo.toml": "[package]\nname = 'x'\n[target.x.dev-dependencies]\nrand = '1'"},
            {},
            "run `cargo vendor`",
        ),
        ({"a.java": ""}, {"kind": "maven"}, "there is no pom.xml"),
        ({"pom.xml": ""}, {}, "no class has a main method"),
        ({"src/main.rs": "", "Cargo.toml": "[workspace]\nmembers = ['x']"}, {}, "has no .package."),
        ({"Cargo.toml": "[package]\nname = '../x'"}, {}, "package.name '../x'"),
        ({"go.mod": "module x\nrequire y v1.0.0", "main.go": ""}, {}, "run `go mod vendor`"),
        ({"a.go": "", "B.cs": ""}, {}, r'sources of go and c#: .*\[build\] kind = "go"'),
        ({"a.pas": "unit a;"}, {}, "0 files could be the main program"),
        ({"a.js": "", "b.js": ""}, {}, "main.js is missing"),
        ({"a.cpp": ""}, {"kind": "cmake"}, "there is no CMakeLists.txt"),
        ({"a.rs": ""}, {"kind": "clang"}, "no file that ends in .cpp"),
        ({"src/main.rs": "", "Cargo.toml": "x = " + "[" * 5000}, {}, "Cargo.toml"),
    ],
)
def test_ambiguous_input_is_refused_with_the_fix(
    tmp_path: Path, files: dict[str, str], table: dict[str, object], why: str
) -> None:
    with pytest.raises(InputError, match=why) as refused:
        recipe(tmp_path, files, **table)
    if why != "Cargo.toml":  # the parser's own words
        for language in languages(CODES):
            assert all(is_own for _, is_own in language.explanation(str(refused.value))), language.code


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("project(mine CXX)\nadd_executable(${PROJECT_NAME} a.cpp)", "./mine"),
        ("add_executable ( brain a.cpp )", "./brain"),
        ("add_executable(a a.cpp)\nadd_executable(b b.cpp)", ""),
        ("add_executable(${NAME} a.cpp)", ""),
    ],
)
def test_the_program_that_cmake_makes_is_the_one_that_plays(tmp_path: Path, text: str, program: str) -> None:
    found = recipe(tmp_path, {"CMakeLists.txt": text})

    assert found
    assert (f'command = ["{program}"]' in found.manifest) == bool(program)


def test_crates_that_were_sent_are_used(tmp_path: Path) -> None:
    cargo = "[package]\nname = 'x'\n[dependencies]\nrand = '1'"

    found = recipe(tmp_path, {"Cargo.toml": cargo, "vendor/rand/Cargo.toml": "", "src/main.rs": ""}, "./bin/run")

    assert found
    build, copy = found.commands
    assert 'source.sent.directory="vendor"' in build
    target = f"{platform.machine()}-unknown-linux-gnu"
    assert ("--target", target) == build[build.index("--target") :][:2]
    assert ("cp", f"/tmp/target/{target}/release/x", "./bin/run") == copy


def test_crates_next_to_a_package_need_no_vendor_folder(tmp_path: Path) -> None:
    cargo = "[package]\nname = 'x'\n[dependencies]\nboard = {path = 'board'}\n[build-dependencies.tool]\npath = 'tool'"

    assert recipe(tmp_path, {"Cargo.toml": cargo, "src/main.rs": "", "build.rs": ""})


def test_libraries_that_were_sent_are_on_the_path_of_java(tmp_path: Path) -> None:
    files = {"p/Main.java": f"package p;\n{MAIN.format('Main')}", "lib/a.jar": "", "gradle/wrapper/w.jar": ""}

    found = recipe(tmp_path, files)

    assert ("-cp", ".:lib/a.jar") == words(found)[3:5]
    assert found
    assert 'command = ["java", "-cp", ".:lib/a.jar", "p.Main"]' in found.manifest


def test_of_the_usual_layout_tests_are_not_built_and_resources_are_found(tmp_path: Path) -> None:
    files = {
        "src/main/java/Main.java": MAIN.format("Main"),
        "src/main/java/module-info.java": "module x {}",
        "src/main/resources/book.txt": "",
        "src/test/java/MainTest.java": MAIN.format("MainTest"),
    }

    found = recipe(tmp_path, files)

    assert ["./src/main/java/Main.java"] == [word for word in words(found) if word.endswith(".java")]
    assert found
    assert '["java", "-cp", ".:src/main/resources", "Main"]' in found.manifest


def test_sources_next_to_libraries_are_built_for_the_main_class(tmp_path: Path) -> None:
    files = {"p/Bot.java": "", "lib/a.jar": ""}

    assert recipe(tmp_path, files, "java", "-cp", ".:lib/a.jar", "p.Bot")
    assert recipe(tmp_path, files, "java", "-jar", "lib/a.jar") is None


def test_maven_copies_the_libraries_that_a_project_needs(tmp_path: Path) -> None:
    files = {"pom.xml": "<dependency>", "src/main/java/p/Bot.java": f"package p;\n{MAIN.format('Bot')}"}

    found = recipe(tmp_path, files)

    assert found
    assert "package" == found.commands[0][-1]
    assert "dependency:copy-dependencies" in found.commands[1]
    assert '["java", "-cp", "./target/classes:target/dependency/*", "p.Bot"]' in found.manifest


@pytest.mark.parametrize(
    ("files", "runtime", "command"),
    [({"Brain.cs": ""}, "mono", '["mono", "mine.exe"]'), ({"bot.js": ""}, "node", '["node", "bot.js"]')],
)
def test_a_language_has_its_runtime(tmp_path: Path, files: dict[str, str], runtime: str, command: str) -> None:
    found = recipe(tmp_path, files)

    assert found
    assert f'name = "mine"\ncommand = {command}\nruntime = "{runtime}"\n' == found.manifest


def test_missing_mono_image_is_built(tmp_path: Path) -> None:
    found = recipe(tmp_path, {"Brain.cs": ""}, "mono", "bin/brain.exe")

    assert "-out:./bin/brain.exe" in words(found)
    assert recipe(tmp_path, {"Brain.cs": "", "bin/brain.exe": ""}, "mono", "bin/brain.exe") is None
