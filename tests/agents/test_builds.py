"""Which build applies to what was sent."""

import json
from pathlib import Path

import pytest

from judge.agents.builds import KINDS, Build, BuildTable, Sources, build_for
from judge.base.errors import InputError
from judge.translations.language import CODES, languages


def laid(tmp_path: Path, *names: str) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir(exist_ok=True)
    for name in names:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).touch()
    return tree


def build(tmp_path: Path, names: tuple[str, ...], *command: str, **table: object) -> Build | None:
    parsed = BuildTable.model_validate(table) if table else None
    return build_for(Sources(laid(tmp_path, *names), "mine", command, parsed))


def built(tmp_path: Path, names: tuple[str, ...], *command: str, **table: object) -> Build:
    found = build(tmp_path, names, *command, **table)
    assert found
    return found


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("a.c", "lib/b.c", "b.h"), "c"),
        (("a.cpp", "b.c"), "c++"),
        (("a.CC",), "c++"),
        (("src/main.rs", "src/board.rs"), "rust"),
        (("p/Main.java", "lib/x.jar"), "java"),
        (("bot.py", "tools/convert.py"), "python"),
        (("Makefile", "a.c", "B.java"), "make"),
        (("GNUmakefile",), "make"),
        (("makefile", "Makefile"), "make"),
        (("CMakeLists.txt", "a.cpp", "src/Makefile"), "cmake"),
        (("Cargo.toml", "src/main.rs"), "cargo"),
        (("go.mod", "main.go", "c.c"), "go"),
        (("a.go",), "go"),
        (("pom.xml", "Main.java"), "maven"),
        (("Brain.cs",), "c#"),
        (("brain.pas", "board.pp"), "pascal"),
        (("index.js", "board.mjs"), "javascript"),
        (("src/a.c", ".git/hooks/x.rs"), "c"),
    ],
)
def test_names_determine_the_build(tmp_path: Path, names: tuple[str, ...], kind: str) -> None:
    assert kind == built(tmp_path, names).kind


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (("Makefile", "CMakeLists.txt"), ("make", "cmake")),
        (("Makefile", "Cargo.toml", "src/main.rs"), ("make", "cargo")),
        (("a.c", "b.rs"), ("c", "rust")),
        (("a.cpp", "train.py"), ("c++", "python")),
        (("train.py", "src/a.go"), ("python", "go")),
        (("src/a.go", "web/page.js"), ("go", "javascript")),
    ],
)
@pytest.mark.parametrize("command", [(), ("./bin/mine",)])
def test_ambiguous_folder_is_refused_with_the_lines_to_choose_from(
    tmp_path: Path, names: tuple[str, ...], kinds: tuple[str, ...], command: tuple[str, ...]
) -> None:
    with pytest.raises(InputError) as refused:
        build(tmp_path, names, *command)

    text = str(refused.value)
    for kind in kinds:
        assert f'[build] kind = "{kind}"' in text
        assert kind == built(tmp_path, names, *command, kind=kind).kind
    for language in languages(CODES):
        assert all(is_own for _, is_own in language.explanation(text)), language.code


def test_table_without_kind_adds_to_the_selected_build(tmp_path: Path) -> None:
    found = built(tmp_path, ("Main.java",), flags=["-encoding", "ISO-8859-1"])

    assert ("java", ("-encoding", "ISO-8859-1")) == (found.kind, found.flags)


def test_table_without_a_build_reports_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\[build\] of agent.toml: there is no source that is built here"):
        build(tmp_path, ("notes.txt",), flags=["-O3"])


def test_keys_that_the_manifest_lacks_follow_from_the_build(tmp_path: Path) -> None:
    found = build_for(Sources(laid(tmp_path, "Main.java"), "mine", given_keys=frozenset({"name", "author"})))

    assert found
    assert ("command", "runtime") == found.missing


@pytest.mark.parametrize(
    ("names", "command"),
    [
        (("run", "run.c"), ("./run",)),
        (("bot.py",), ("python3", "bot.py")),
        (("Bot.class", "Bot.java"), ("java", "Bot")),
        (("p/Bot.java", "lib/a.jar"), ("java", "-jar", "lib/a.jar")),
        (("Brain.cs", "bin/brain.exe"), ("mono", "bin/brain.exe")),
        (("notes.txt",), ()),
        (("notes.txt",), ("./run",)),
    ],
)
def test_playable_folder_is_not_built(tmp_path: Path, names: tuple[str, ...], command: tuple[str, ...]) -> None:
    assert build(tmp_path, names, *command) is None


@pytest.mark.parametrize(
    ("names", "command", "program"),
    [
        (("a.c",), ("./bin/run", "--fast"), "./bin/run"),
        (("Brain.cs",), ("mono", "bin/brain.exe"), "./bin/brain.exe"),
        (("p/Bot.java", "lib/a.jar"), ("java", "-cp", ".:lib/a.jar", "p.Bot"), "./mine"),
        (("a.c",), (), "./mine"),
        (("a.c", "mine/b.c"), (), "./mine.bin"),
    ],
)
def test_missing_program_is_built(
    tmp_path: Path, names: tuple[str, ...], command: tuple[str, ...], program: str
) -> None:
    found = built(tmp_path, names, *command)

    assert program == found.program
    assert bool(command) is (not found.missing)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_script_that_is_part_of_its_description(kind: str, tmp_path: Path) -> None:
    found = built(tmp_path, (), kind=kind, main="x", flags=["-O3"])

    assert found.script.is_file()
    described = json.loads(str(found))
    assert (kind, "./mine", "x", ["-O3"]) == tuple(described[key] for key in ("kind", "program", "main", "flags"))
    assert 64 == len(described["script"])
