"""Builds untrusted sources in a box. Writes the resulting tree to stdout as a plain tar file.

    python3 -I DIRECTORY JOB.json      DIRECTORY has this file as __main__.py
                                       JOB.json: {"command": [word, ...], "input": path, "at": path, "name": name,
                                                  "missing": [key, ...], "bounds": {...}}

The command builds in the copy `at`. It writes the agent's runtime and command, ended by NULs, to the file $PLAYS; these
and the name are added to agent.toml where they are missing. stderr is the log. Exit code 3: the command failed; 4: the
result is refused. A build can forge only its own agent's output.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from judge.base.text import quote, sentence
from judge.base.tree_tar import add_file, add_member, write_stream
from judge.submissions.path_checks import Bounds, PathChecker, RefusedError, shown

FAILED = 3
UNFIT = 4

AGAIN = "--- again, with fewer of the sources:"
"""Written by images/toolchain/build/common."""
MANIFEST = "agent.toml"
PLAYS = "/tmp/plays"  # noqa: S108 - in the box

AGE_S = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))


def log_line(line: str) -> None:
    """Write a log line, in order with the commands' output."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def run_command(command: list[str], at: Path, plays: str) -> bool:
    """Whether a command succeeded in the tree."""
    environment = {**os.environ, "PLAYS": plays}
    done = subprocess.run(command, cwd=at, env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if done.returncode < 0:
        log_line(f"the build was ended by {signal.Signals(-done.returncode).name}")
    return done.returncode == 0


def add_manifest(job: dict[str, Any], at: Path) -> None:
    """Write the missing keys into the agent.toml of the tree."""
    if not os.path.isfile(PLAYS):  # noqa: PTH113
        return
    runtime, *command = Path(PLAYS).read_bytes().decode("utf-8", "replace").split("\0")[:-1]
    values = {"name": job["name"], "command": command, "runtime": runtime}
    lines = [f"{key} = {json.dumps(values[key], ensure_ascii=False)}\n" for key in job["missing"]]
    sent = Path(job["input"], MANIFEST)
    rest = sent.read_text(encoding="utf-8-sig") if sent.exists() else ""
    (at / MANIFEST).write_text("".join(lines) + rest, encoding="utf-8")


def file_behind(link: Path, at: Path) -> Path:
    """Target of a link. Raises RefusedError unless it is a file of the tree."""
    found = Path(os.path.realpath(link))
    if not found.is_relative_to(os.path.realpath(at)) or not found.is_file():
        name = shown(link.relative_to(at).as_posix())
        raise RefusedError(
            sentence(f"{name} is a link that leads to no file of the directory; let the build copy instead")
        )
    return found


def pack_tree(at: Path, bounds: Bounds) -> None:
    """Write the tree to stdout, sorted by name, with links replaced by their files.

    Raises RefusedError for anything that is neither file nor directory.
    """
    checker = PathChecker(bounds)
    with write_stream(sys.stdout.buffer) as tar:
        for path in sorted(at.rglob("*")):
            name = path.relative_to(at).as_posix()
            file = file_behind(path, at) if path.is_symlink() else path
            if file.is_dir():
                checker.directory(name)
                add_member(tar, name)
            elif file.is_file():
                checker.file(name, file.stat().st_size)
                add_file(tar, name, file)
            else:
                raise RefusedError(sentence(f"{shown(name)} is neither a file nor a directory"))


def main() -> int:
    """Build the job's sources."""
    job: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    at = Path(job["at"])
    try:
        shutil.copytree(job["input"], at)
        for path in [at, *at.rglob("*")]:
            os.utime(path, (AGE_S, AGE_S))  # equal times, so that `make` ignores the unpacking order
    except (OSError, shutil.Error) as error:
        log_line(sentence(f"the sources do not fit into the directory that is built in: {quote(str(error), 200)}"))
        return FAILED
    if not run_command(job["command"], at, PLAYS if job["missing"] else ""):
        return FAILED
    try:
        add_manifest(job, at)
        pack_tree(at, Bounds(**job["bounds"]))
    except (RefusedError, OSError, ValueError) as error:
        log_line(f"the build result is refused: {error}")
        return UNFIT
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
