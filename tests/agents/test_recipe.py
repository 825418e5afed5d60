"""Which build applies to what was sent."""

from pathlib import Path

import pytest

from judge.agents.recipe import BuildRecipe, BuildTable, Sources, recipe_for
from judge.errors import InputError

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
    ],
)
def test_the_tree_tells_the_build(tmp_path: Path, files: dict[str, str], kind: str) -> None:
    found = recipe(tmp_path, files)

    assert found
    assert kind == found.kind


def test_every_source_is_a_word_that_is_no_option(tmp_path: Path) -> None:
    names = ["-o.c", "$(reboot).c", "a b;c.c", "`x`.c", "@file.c"]

    found = recipe(tmp_path, dict.fromkeys(names, ""))

    assert sorted(f"./{name}" for name in names) == [word for word in words(found) if word.endswith(".c")]
    assert ("-o", "./mine") == words(found)[3:5]


def test_a_tree_without_manifest_gets_one(tmp_path: Path) -> None:
    found = recipe(tmp_path, {"p/Main.java": f"package p.q;\n{MAIN.format('Main')}"})

    assert found
    assert 'name = "mine"\ncommand = ["java", "-cp", ".", "p.q.Main"]\nruntime = "java"\n' == found.manifest


def test_what_can_be_played_is_not_built(tmp_path: Path) -> None:
    assert recipe(tmp_path, {"run": "", "run.c": ""}, "./run") is None
    assert recipe(tmp_path, {"bot.py": ""}, "python3", "bot.py") is None
    assert recipe(tmp_path, {"Bot.class": "", "Bot.java": ""}, "java", "Bot") is None
    assert recipe(tmp_path / "empty", {"notes.txt": ""}) is None


def test_what_the_command_names_is_what_is_built(tmp_path: Path) -> None:
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
            {"src/main.rs": "", "Cargo.toml": "[dependencies]\nrand = '1'"},
            {},
            "there is no network",
        ),
        ({"src/main.rs": "", "Cargo.toml": "", "build.rs": ""}, {}, "build.rs is not run"),
        ({"src/main.rs": "", "Cargo.toml": "x = " + "[" * 5000}, {}, "Cargo.toml"),
    ],
)
def test_what_is_unclear_is_refused_with_the_fix(
    tmp_path: Path, files: dict[str, str], table: dict[str, object], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        recipe(tmp_path, files, **table)
