"""From what a person names to an agent that may play."""

import json
import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.agents.agents import Agent, stage_agent
from judge.agents.manifest import derived_name, fit_name, is_name, read_manifest
from judge.agents.program_files import MAX_DEPTH, program_digest
from judge.base.errors import InputError
from judge.record.policy import load_policy
from judge.submissions.trees import build_of

GOOD = 'name = "mine"\ncommand = ["./run", "--fast"]\nline_ending = "lf"\nauthor = "me"\n'
FASTGAME = load_policy("gomocup-fastgame")


def directory(tmp_path: Path, manifest: str) -> Path:
    path = tmp_path / "agent"
    (path / "data").mkdir(parents=True)
    (path / "agent.toml").write_text(manifest)
    (path / "run").write_bytes(b"\x7fELF...")
    (path / "run").chmod(0o755)
    (path / "data" / "book.txt").write_text("h8")
    return path


def staged(tmp_path: Path, staging: Path, manifest: str) -> Agent:
    return stage_agent(str(directory(tmp_path, manifest)), staging)


def test_a_directory_is_copied_whole_and_the_original_is_left_alone(tmp_path: Path, staging: Path) -> None:
    agent = staged(tmp_path, staging, GOOD)

    manifest = agent.manifest
    assert ("mine", ("./run", "--fast"), "native") == (manifest.name, manifest.command, manifest.runtime)
    assert "h8" == (agent.program / "data" / "book.txt").read_text()
    assert staging in agent.program.parents
    assert 0o755 == (agent.program / "run").stat().st_mode & 0o777
    assert 0o644 == (agent.program / "data" / "book.txt").stat().st_mode & 0o777
    assert {"line_ending": "lf"} == agent.seat(FASTGAME).protocol_options


def test_one_executable_is_copied_alone(tmp_path: Path, staging: Path) -> None:
    agent = stage_agent(str(directory(tmp_path, GOOD) / "run"), staging)

    assert ["run"] == [path.name for path in agent.program.iterdir()]
    assert ("./run",) == agent.manifest.command


def test_a_python_file_runs_in_the_python_runtime(tmp_path: Path, staging: Path) -> None:
    script = tmp_path / "brain one.py"
    script.write_text("#!/usr/bin/env python3\n")

    manifest = stage_agent(str(script), staging).manifest

    assert ("brain_one", "python") == (manifest.name, manifest.runtime)
    assert ("python3", "brain one.py") == manifest.command


def test_the_digest_follows_names_contents_and_executable_bits(tmp_path: Path) -> None:
    source = directory(tmp_path, GOOD)
    digests = [program_digest(source)]
    (source / "data" / "book.txt").write_text("h9")
    digests.append(program_digest(source))
    (source / "data" / "book.txt").rename(source / "data" / "look.txt")
    digests.append(program_digest(source))
    (source / "run").chmod(0o644)
    digests.append(program_digest(source))

    assert 4 == len(set(digests))


RUNS = 'name = "mine"\ncommand = ["./run"]\n'


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ('command = ["./run"]\n', "the key 'name' is missing"),
        ('name = "mine"\n', "the key 'command' is missing"),
        ('name = "mine"\ncommand = []\n', "command"),
        (f'{RUNS}runtim = "python"\n', "did you mean 'runtime'?"),
        ('name = "../x"\ncommand = ["./run"]\n', "only A-Z"),
        (f'{RUNS}line_ending = "cr"\n', "line_ending"),
        (f'{RUNS}protocol = "gomocop"\n', "did you mean 'gomocup'?"),
        (f'{RUNS}protocol = "file"\n', "old protocol by files"),
        ("name = \n", "agent.toml"),
        ('name = "mine"\ncommand = ["./run", "a\\u0000b"]', "command, word 2: it has the control"),
        ('name = "mine"\ncommand = ["./run\\n"]', "control character U+000A"),
        ('name = "mine"\ncommand = ["./run", "\\u009b1m"]', "character U+009B"),
        (GOOD + r'language = "C\u0007"', "language: it has the control character U+0007"),
        (GOOD + r'runtime = "native\u0000"', "runtime: it has the control"),
        (GOOD + r'description = "a\u0000b"', "description: it has the control"),
        (GOOD + '[build]\nkind = "c"\nflags = ["-O2", "-D\\u0000"]', "build.flags, word 2: it has"),
        (f'name = "mine"\ncommand = ["./run", "{"x" * 4097}"]', "word 2: it is longer than 4096"),
        (
            'name = "mine"\ncommand = "python3 main.py"',
            'command: write a list with a text for each word: command = ["py',
        ),
        ('name = "mine"\ncommand = ["./run --fast"]', 'no shell reads it, write command = ["./run", "--fast"]'),
        ('name = "mine"\ncommand = ["data\\\\book.txt"]', "there is no 'data\\\\book.txt', but 'data/book.txt'"),
        ('name = "mine"\ncommand = ["data\\book.txt"]', "between directories write /: 'data/book.txt"),
        # A file of the command in another case.
        *(
            (f'name = "mine"\ncommand = ["{named}"]', f"there is no {named!r}, but {sent!r}: correct one of them")
            for named, sent in (
                ("Data/book.txt", "data/book.txt"),
                ("data/Book.txt", "data/book.txt"),
                ("./Run", "run"),
            )
        ),
        *(
            (f"{RUNS}[options]\n{name} = 1\n", "write a printable name of at most 100 characters")
            for name in ('""', '" "', r'"\u001b[2J"', r'"a\nquit"', r'"\u202e"', f'"{"k" * 101}"')
        ),
        *(
            (f"{RUNS}[options]\nHash = {value}\n", "options.Hash: write a text in quotes, a whole number")
            for value in ("1.5", "[1]", "0x8000000000000000", f"-{'9' * 4000}")
        ),
    ],
)
def test_a_wrong_manifest_is_refused_with_the_fix(tmp_path: Path, staging: Path, manifest: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)) as refused:
        staged(tmp_path, staging, manifest)

    assert str(refused.value).isprintable()


def test_program_outside_the_directory_is_no_program(tmp_path: Path, staging: Path) -> None:
    """A file of this host, which is not in the agent's box."""
    (tmp_path / "other run").touch()
    with pytest.raises(InputError, match="other run' is no program"):
        staged(tmp_path, staging, 'name = "mine"\ncommand = ["../other run"]')


@pytest.mark.parametrize("command", [("./run", "RUN", "-Run"), ("./my run",)])
def test_command_may_have_words_that_are_no_files_and_blanks(
    command: tuple[str, ...], tmp_path: Path, staging: Path
) -> None:
    source = directory(tmp_path, f'name = "mine"\ncommand = {json.dumps(command)}\n')
    (source / "my run").write_bytes(b"\x7fELF")

    assert command == stage_agent(str(source), staging).manifest.command


def test_a_description_may_have_lines(tmp_path: Path, staging: Path) -> None:
    manifest = staged(tmp_path, staging, GOOD + 'description = """one\n\ttwo"""\n').manifest

    assert manifest.description == "one\n\ttwo"


def test_options_need_a_protocol_with_engine_options(tmp_path: Path, staging: Path) -> None:
    agent = staged(tmp_path, staging, f"{RUNS}[options]\nThreads = 2\n")

    assert {"Threads": 2} == agent.manifest.options
    words = r"^mine: agent.toml: options: the protocol gomocup has no engine options; rem"
    with pytest.raises(InputError, match=words):
        agent.seat(FASTGAME)


MAIN = 'name = "mine"\nruntime = "python"\ncommand = ["python3", "MAIN"]\n'


@pytest.mark.parametrize("folder", ["", "src\u030c/"])
def test_file_of_the_command_in_another_unicode_form_is_found(folder: str, tmp_path: Path, staging: Path) -> None:
    named = unicodedata.normalize("NFC", f"{folder}Žofka.py")
    source = directory(tmp_path, MAIN.replace("MAIN", named))
    file = source / unicodedata.normalize("NFD", named)
    file.parent.mkdir(exist_ok=True)
    file.write_text("")

    assert file.relative_to(source).as_posix() == stage_agent(str(source), staging).manifest.command[1]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("brain one", "brain_one"),
        ("五子棋", "WuZiQi"),
        ("围棋手", "WeiQiShou"),
        ("Жук", "Zhuk"),
        ("Žofka", "Zofka"),
        ("Z\u030cofka", "Zofka"),
        ("오목", "OMog"),
        ("五子棋 v1", "WuZiQi_v1"),
        (".hidden", "hidden"),
        ("()", ""),
        ("\ue000\ue001", ""),
        ("", ""),
        ("五" * 99, "Wu" * 32),
    ],
)
def test_name_in_other_letters_is_written_in_latin_ones(text: str, name: str) -> None:
    assert name == derived_name(text)
    assert is_name(fit_name(text))


def test_a_tree_that_is_too_deep_to_be_copied_again_is_refused(tmp_path: Path, staging: Path) -> None:
    """Else the copy for each box would fail, and each game would be void."""
    source = directory(tmp_path, GOOD)
    deep = source.joinpath(*["d"] * MAX_DEPTH)
    deep.mkdir(parents=True)
    (deep / "file").touch()
    with pytest.raises(InputError, match="deeper than 64 names: move it up"):
        stage_agent(str(source), staging)
    (deep / "file").rename(deep.parent / "file")
    stage_agent(str(source), staging)


def test_link_inside_is_copied(tmp_path: Path, staging: Path) -> None:
    source = directory(tmp_path, GOOD)
    (source / "inside").symlink_to("data/book.txt")
    agent = stage_agent(str(source), staging)

    assert "h8" == (agent.program / "inside").read_text()
    assert not (agent.program / "inside").is_symlink()


@pytest.mark.parametrize(
    ("name", "target", "words"),
    [
        ("lib", "lib-1.0", "lib: a link to a directory; copy the directory instead (cp -rL)"),
        ("x", "x", "x: a link that leads to itself"),
        ("a", "b", "a: a link that leads to itself"),
        ("up", ".", "up: a link to a directory"),
        ("data/up", "..", "up: a link to a directory"),
        ("gone", "nowhere", "gone: a link to 'nowhere', which is missing"),
        ("through", "run/x", "through: a link to 'run/x', which is missing"),
        ("far", "/etc", "far: a link that leads out"),
        ("file", "/etc/passwd", "file: a link that leads out"),
        ("near", "../source-2/x", "near: a link that leads out"),
    ],
)
def test_link_that_cannot_be_copied_is_refused_by_name(
    name: str, target: str, words: str, tmp_path: Path, staging: Path
) -> None:
    source = directory(tmp_path, GOOD)
    (source / "lib-1.0").mkdir()
    (source / "lib-1.0" / "net").write_text("h8")
    (tmp_path / "source-2").mkdir()
    (tmp_path / "source-2" / "x").write_text("secret")
    if name == "a":
        (source / "b").symlink_to("a")
    (source / name).symlink_to(target)

    with pytest.raises(InputError, match=re.escape(words)):
        stage_agent(str(source), staging)


@pytest.mark.parametrize("file", ["agent.toml", "run", "info", "pbrain-mine", "Makefile"])
def test_link_to_itself_in_place_of_any_file_is_an_input_error(file: str, tmp_path: Path, staging: Path) -> None:
    source = directory(tmp_path, GOOD)
    if file != "run":
        (source / "agent.toml").unlink()
    (source / file).unlink(missing_ok=True)
    (source / file).symlink_to(file)

    with pytest.raises(InputError):
        stage_agent(str(source), staging)


@pytest.mark.parametrize(
    ("head", "is_started"), [(b"\x7fELF", True), (b"#!/bin/sh\n", True), (b"h8", False), (b"", False)]
)
def test_program_without_executable_bit_gets_one(head: bytes, is_started: bool, tmp_path: Path, staging: Path) -> None:
    source = directory(tmp_path, GOOD)
    (source / "run").write_bytes(head + bytes(60))
    (source / "run").chmod(0o644)

    agent = stage_agent(str(source), staging)

    assert is_started == bool((agent.program / "run").stat().st_mode & 0o111)


@pytest.mark.parametrize(
    ("name", "head", "words"),
    [
        ("thing.exe", b"MZ\x90\x00", "cut off"),
        ("thing.exe", b"hello", "no ELF binary, Windows"),
        ("thing.exe", b"", "no ELF"),
        ("pbrain-mine.ZIP", b"PK\x03\x04", "pbrain-mine.ZIP is an archive: unpack it .* or give it to judge submit"),
        ("outer/bot.zip", b"PK", "bot.zip is an archive: unpack it"),
        *(
            (f"outer/{name}", b"", f"there is {name}: call it")
            for name in ("agent.toml.txt", "Agent.toml", "AGENT.TOML")
        ),
    ],
)
def test_what_cannot_run_here_is_refused(tmp_path: Path, staging: Path, name: str, head: bytes, words: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(head)
    named = path if "/" not in name else path.parent

    with pytest.raises(InputError, match=words):
        stage_agent(str(named), staging)
    if "call it" in words:
        with pytest.raises(InputError, match=words):
            build_of(named, "mine")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["FIFO", "directory"])
def test_manifest_that_is_no_file_is_refused_at_once(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "agent.toml")
    for read in (read_manifest, lambda path: stage_agent(str(path.parent), tmp_path)):
        with pytest.raises(InputError, match=r"agent\.toml: it is no file"):
            read(tmp_path / "agent.toml")


def with_info(tmp_path: Path, info: str) -> Path:
    source = directory(tmp_path, "")
    (source / "agent.toml").unlink()
    (source / "info").write_text(info)
    return source


def test_an_info_file_of_the_ucc_contests_is_a_manifest(tmp_path: Path, staging: Path) -> None:
    """Program with arguments, author, language, description; named like its directory; speaks what the policy says."""
    source = with_info(tmp_path, "run --no-graphics 'a b'\nSomebody\nC++\nPlays\nwell.\n")

    agent = stage_agent(str(source), staging)

    manifest = agent.manifest
    assert ("agent", ("run", "--no-graphics", "a b")) == (manifest.name, manifest.command)
    assert ("native", "Somebody", "C++") == (manifest.runtime, manifest.author, manifest.language)
    assert "Plays\nwell." == manifest.description
    assert "gomocup" == agent.seat(FASTGAME).protocol


@pytest.mark.parametrize(
    ("info", "words"),
    [
        ("gone\nme\n", "line 1"),
        ("../../../../../../../../../etc/passwd\nme\n", "line 1"),
        ("/etc/passwd\nme\n", "line 1"),
        ("run a\0b\nme\nC\n", r"command, word 2: it has the control character U\+0000"),
    ],
)
def test_a_wrong_info_file_is_refused(tmp_path: Path, staging: Path, info: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        stage_agent(str(with_info(tmp_path, info)), staging)


def test_runtime_is_exactly_that_of_the_policy(tmp_path: Path, staging: Path) -> None:
    """An agent cannot choose an image; an organiser can give one a name."""
    script = tmp_path / "old.py"
    script.write_text("#!/usr/bin/python2.7\n")
    agent = stage_agent(str(script), staging)

    words = r"old: runtime 'python2': policy gomocup-fastgame admits native, python, .*, \"python2\"\]$"
    with pytest.raises(InputError, match=words):
        agent.seat(FASTGAME)

    policy = load_policy("gomocup-fastgame", ["runtimes.python2='sha256:0123'"])
    assert "sha256:0123" == agent.seat(policy).runtime


def test_bookkeeping_is_no_part_of_an_agent(tmp_path: Path, staging: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "agent.toml").write_text(MAIN.replace("MAIN", "main.py"))
    (mine / "main.py").write_text("print()\n")
    before = stage_agent(str(mine), staging)
    for name in (".git/FETCH_HEAD", "lib/__pycache__/a.pyc", ".idea/x", ".DS_Store", "lib/.gitignore", ".main.py.swp"):
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_text("x")
    (mine / "._main.py").write_bytes(b"\x00\x05\x16\x07" + bytes(50))
    after = stage_agent(str(mine), staging)

    assert before.digest == after.digest
    assert {"agent.toml", "main.py"} == {path.name for path in after.program.rglob("*") if path.is_file()}
    (mine / "._own").write_text("not a companion")
    assert before.digest != stage_agent(str(mine), staging).digest
