"""From what a person names to an agent that may play."""

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.agents.agents import stage_agent
from judge.agents.manifest import derived_name, fit_name, is_name, read_manifest
from judge.agents.program_files import MAX_DEPTH, program_digest
from judge.base.errors import InputError
from judge.referee.policy import load_policy
from judge.submissions.trees import build_of


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    path = tmp_path / "staging"
    path.mkdir()
    return path


def directory(tmp_path: Path, manifest: str) -> Path:
    path = tmp_path / "agent"
    (path / "data").mkdir(parents=True)
    (path / "agent.toml").write_text(manifest)
    (path / "run").write_bytes(b"\x7fELF...")
    (path / "run").chmod(0o755)
    (path / "data" / "book.txt").write_text("h8")
    return path


GOOD = 'name = "mine"\ncommand = ["./run", "--fast"]\nline_ending = "lf"\nauthor = "me"\n'


def test_a_directory_is_copied_whole_and_the_original_is_left_alone(tmp_path: Path, staging: Path) -> None:
    source = directory(tmp_path, GOOD)

    agent = stage_agent(str(source), staging)

    assert ("mine", ("./run", "--fast"), "native") == (
        agent.manifest.name,
        agent.manifest.command,
        agent.manifest.runtime,
    )
    assert "h8" == (agent.program / "data" / "book.txt").read_text()
    assert staging in agent.program.parents
    assert 0o755 == (agent.program / "run").stat().st_mode & 0o777
    assert 0o644 == (agent.program / "data" / "book.txt").stat().st_mode & 0o777
    assert {"line_ending": "lf"} == agent.seat(load_policy("gomocup-fastgame")).protocol_options


def test_one_executable_is_copied_alone(tmp_path: Path, staging: Path) -> None:
    """Nothing else of the caller's directory goes with it."""
    source = directory(tmp_path, GOOD) / "run"

    agent = stage_agent(str(source), staging)

    assert ["run"] == [path.name for path in agent.program.iterdir()]
    assert ("./run",) == agent.manifest.command


def test_a_python_file_runs_in_the_python_runtime(tmp_path: Path, staging: Path) -> None:
    script = tmp_path / "brain one.py"
    script.write_text("#!/usr/bin/env python3\n")

    agent = stage_agent(str(script), staging)

    assert ("brain_one", "python", ("python3", "brain one.py")) == (
        agent.manifest.name,
        agent.manifest.runtime,
        agent.manifest.command,
    )


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


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ('command = ["./run"]\n', "the key 'name' is missing"),
        ('name = "mine"\n', "the key 'command' is missing"),
        ('name = "mine"\ncommand = []\n', "command"),
        ('name = "mine"\ncommand = ["./run"]\nruntim = "python"\n', "did you mean 'runtime'?"),
        ('name = "../x"\ncommand = ["./run"]\n', "only A-Z"),
        ('name = "mine"\ncommand = ["./run"]\nline_ending = "cr"\n', "line_ending"),
        ('name = "mine"\ncommand = ["./run"]\nprotocol = "gomocop"\n', "did you mean 'gomocup'?"),
        ('name = "mine"\ncommand = ["./run"]\nprotocol = "file"\n', "old protocol by files"),
        ("name = \n", "agent.toml"),
        ('name = "mine"\ncommand = ["./run", "a\\u0000b"]', "command, word 2: it has the control"),
        ('name = "mine"\ncommand = ["./run\\n"]', "control character U+000A"),
        ('name = "mine"\ncommand = ["./run", "\\u009b1m"]', "character U+009B"),
        (GOOD + r'language = "C\u0007"', "language: it has the control character U+0007"),
        (GOOD + r'runtime = "native\u0000"', "runtime: it has the control"),
        (GOOD + r'description = "a\u0000b"', "description: it has the control"),
        (GOOD + '[build]\nkind = "c"\nflags = ["-O2", "-D\\u0000"]', "build.flags, word 2: it has"),
        (f'name = "mine"\ncommand = ["./run", "{"x" * 4097}"]', "word 2: it is longer than 4096"),
    ],
)
def test_a_wrong_manifest_is_refused_with_the_fix(tmp_path: Path, staging: Path, manifest: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        stage_agent(str(directory(tmp_path, manifest)), staging)

    assert words in str(error.value)


def test_an_info_file_with_a_nul_is_refused_as_a_manifest_is(tmp_path: Path, staging: Path) -> None:
    source = directory(tmp_path, GOOD)
    (source / "agent.toml").unlink()
    (source / "info").write_text("run a\0b\nme\nC\n")

    with pytest.raises(InputError, match=r"command, word 2: it has the control character U\+0000"):
        stage_agent(str(source), staging)


def test_a_description_may_have_lines(tmp_path: Path, staging: Path) -> None:
    text = GOOD + 'description = """one\n\ttwo"""\n'
    assert stage_agent(str(directory(tmp_path, text)), staging).manifest.description == "one\n\ttwo"


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


def test_a_link_that_leads_out_is_refused_and_one_inside_is_copied(tmp_path: Path, staging: Path) -> None:
    source = directory(tmp_path, GOOD)
    (source / "inside").symlink_to("data/book.txt")
    agent = stage_agent(str(source), staging)
    assert "h8" == (agent.program / "inside").read_text()
    assert not (agent.program / "inside").is_symlink()

    (source / "outside").symlink_to("/etc/passwd")
    with pytest.raises(InputError, match="leads out"):
        stage_agent(str(source), staging)


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


MAIN = 'name = "mine"\nruntime = "python"\ncommand = ["python3", "MAIN"]\n'


@pytest.mark.parametrize("folder", ["", "src\u030c/"])
def test_file_of_the_command_in_another_unicode_form_is_found(folder: str, tmp_path: Path, staging: Path) -> None:
    named = unicodedata.normalize("NFC", f"{folder}Žofka.py")
    source = directory(tmp_path, MAIN.replace("MAIN", named))
    file = source / unicodedata.normalize("NFD", named)
    file.parent.mkdir(exist_ok=True)
    file.write_text("")

    assert file.relative_to(source).as_posix() == stage_agent(str(source), staging).manifest.command[1]


@pytest.mark.parametrize(("named", "sent"), [("main.py", "Main.py"), ("src/main.py", "SRC/main.py"), ("./Run", "run")])
def test_file_of_the_command_in_another_case_is_named(named: str, sent: str, tmp_path: Path, staging: Path) -> None:
    source = directory(tmp_path, MAIN.replace("MAIN", named))
    (source / sent).parent.mkdir(exist_ok=True)
    (source / sent).write_text("")

    with pytest.raises(InputError, match=f"there is no {named!r}, but {sent!r}: correct one of them"):
        stage_agent(str(source), staging)


def test_word_that_differs_from_a_file_in_case_may_be_no_file(tmp_path: Path, staging: Path) -> None:
    source = directory(tmp_path, 'name = "mine"\ncommand = ["./run", "RUN", "-Run"]\n')

    assert ("./run", "RUN", "-Run") == stage_agent(str(source), staging).manifest.command


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
    (source / "b").symlink_to("a")
    if name != "a":
        (source / "b").unlink()
    (source / name).symlink_to(target)

    with pytest.raises(InputError) as error:
        stage_agent(str(source), staging)

    assert words in str(error.value)


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
    ("head", "words"),
    [(b"MZ\x90\x00", "cut off"), (b"hello", "no ELF binary, Windows"), (b"", "no ELF")],
)
def test_a_file_that_cannot_run_here_is_refused(tmp_path: Path, staging: Path, head: bytes, words: str) -> None:
    path = tmp_path / "thing.exe"
    path.write_bytes(head)

    with pytest.raises(InputError) as error:
        stage_agent(str(path), staging)

    assert words in str(error.value)


def test_archive_given_as_an_agent_gets_a_hint_to_unpack_or_submit_it(tmp_path: Path, staging: Path) -> None:
    path = tmp_path / "pbrain-mine.ZIP"
    path.write_bytes(b"PK\x03\x04")

    with pytest.raises(InputError, match=r"pbrain-mine\.ZIP is an archive: unpack it .* or give it to judge submit"):
        stage_agent(str(path), staging)


INFO = "run --no-graphics 'a b'\nSomebody\nC++\nPlays\nwell.\n"


def test_an_info_file_of_the_ucc_contests_is_a_manifest(tmp_path: Path, staging: Path) -> None:
    """Program with arguments, author, language, description; named like its directory; speaks what the policy says."""
    source = directory(tmp_path, "")
    (source / "agent.toml").unlink()
    (source / "info").write_text(INFO)

    agent = stage_agent(str(source), staging)

    assert (
        "agent",
        ("run", "--no-graphics", "a b"),
        "native",
        "Somebody",
        "C++",
        "Plays\nwell.",
    ) == (
        agent.manifest.name,
        agent.manifest.command,
        agent.manifest.runtime,
        agent.manifest.author,
        agent.manifest.language,
        agent.manifest.description,
    )
    assert "gomocup" == agent.seat(load_policy("gomocup-fastgame")).protocol


def test_an_info_file_without_a_program_names_its_line(tmp_path: Path, staging: Path) -> None:
    source = directory(tmp_path, "")
    (source / "agent.toml").unlink()
    (source / "info").write_text("gone\nme\n")

    with pytest.raises(InputError, match="line 1"):
        stage_agent(str(source), staging)


def test_runtime_is_exactly_that_of_the_policy(tmp_path: Path, staging: Path) -> None:
    """An agent cannot choose an image; an organiser can give one a name."""
    script = tmp_path / "old.py"
    script.write_text("#!/usr/bin/python2.7\n")
    agent = stage_agent(str(script), staging)

    with pytest.raises(
        InputError, match=r"old: runtime 'python2': policy gomocup-fastgame admits native, python, .*, \"python2\"\]$"
    ):
        agent.seat(load_policy("gomocup-fastgame"))

    policy = load_policy("gomocup-fastgame", ["runtimes.python2='sha256:0123'"])
    assert "sha256:0123" == agent.seat(policy).runtime


# --- bookkeeping -----------------------------------------------------------------------------------------------------


def test_bookkeeping_is_no_part_of_an_agent(tmp_path: Path, staging: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "agent.toml").write_text('name = "mine"\ncommand = ["python3", "main.py"]\nruntime = "python"\n')
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


def test_options_need_a_protocol_with_engine_options(tmp_path: Path, staging: Path) -> None:
    mine = directory(tmp_path, 'name = "mine"\ncommand = ["./run"]\n[options]\nThreads = 2\n')
    agent = stage_agent(str(mine), staging)

    assert {"Threads": 2} == agent.manifest.options
    with pytest.raises(InputError) as refused:
        agent.seat(load_policy("gomocup-freestyle"))
    assert str(refused.value) == (
        "mine: agent.toml: options: the protocol gomocup has no engine options; remove the section"
    )


@pytest.mark.parametrize("name", ['""', '" "', r'"\u001b[2J"', r'"a\nquit"', r'"\u202e"', f'"{"k" * 101}"'])
def test_name_of_an_option_is_short_and_printable(tmp_path: Path, name: str) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(f'name = "mine"\ncommand = ["./run"]\n[options]\n{name} = 1\n')
    with pytest.raises(InputError, match=r"options\..*: write a printable name of at most 100 characters") as refused:
        read_manifest(path)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("options", ["Hash = 1.5", "Hash = [1]", "Hash = 0x8000000000000000", f"Hash = -{'9' * 4000}"])
def test_values_of_options_are_texts_numbers_or_booleans(tmp_path: Path, options: str) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(f'name = "mine"\ncommand = ["./run"]\n[options]\n{options}\n')
    with pytest.raises(InputError, match=r"agent\.toml: options\.Hash: write a text in quotes, a whole number"):
        read_manifest(path)


@pytest.mark.parametrize("name", ["agent.toml.txt", "Agent.toml", "AGENT.TOML"])
def test_a_manifest_under_nearly_its_name_is_named(name: str, tmp_path: Path, staging: Path) -> None:
    (tmp_path / name).write_text('name = "mine"\ncommand = ["python3", "main.py"]\n')
    (tmp_path / "main.py").write_text("print()\n")

    for read in (lambda: stage_agent(str(tmp_path), staging), lambda: build_of(tmp_path, "mine")):
        with pytest.raises(InputError, match=f"there is {name}: call it agent.toml"):
            read()


def test_backslashes_between_directories_are_refused_with_the_word_to_write(tmp_path: Path, staging: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("print()\n")
    for word, words in (
        ("src\\\\main.py", "there is no .*, but 'src/main.py'"),
        ("src\\bmain.py", "between directories write /: 'src/bmain.py"),
    ):
        (tmp_path / "agent.toml").write_text(f'name = "mine"\ncommand = ["python3", "{word}"]\nruntime = "python"\n')
        with pytest.raises(InputError, match=words):
            stage_agent(str(tmp_path), staging)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ('"python3 main.py"', 'command: write a list with a text for each word: command = ["python3", "main.py"]'),
        ('["./run --fast"]', 'no shell reads it, write command = ["./run", "--fast"]'),
    ],
)
def test_command_for_a_shell_is_refused_with_the_fix(command: str, words: str, tmp_path: Path, staging: Path) -> None:
    with pytest.raises(InputError) as caught:
        stage_agent(str(directory(tmp_path, f'name = "mine"\ncommand = {command}\n')), staging)
    assert words in str(caught.value)


def test_program_with_a_blank_in_its_name_is_taken(tmp_path: Path, staging: Path) -> None:
    source = directory(tmp_path, 'name = "mine"\ncommand = ["./my run"]\n')
    (source / "run").rename(source / "my run")
    assert ("./my run",) == stage_agent(str(source), staging).manifest.command


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["FIFO", "directory"])
def test_manifest_that_is_no_file_is_refused_at_once(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "agent.toml")
    for read in (read_manifest, lambda path: stage_agent(str(path.parent), tmp_path)):
        with pytest.raises(InputError, match=r"agent\.toml: it is no file"):
            read(tmp_path / "agent.toml")


def test_directory_with_an_archive_alone_names_the_archive(tmp_path: Path, staging: Path) -> None:
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer" / "bot.zip").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"bot\.zip is an archive: unpack it"):
        stage_agent(str(tmp_path / "outer"), staging)
