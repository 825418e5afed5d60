"""What an agent finds in its box: paths, environment variables, its user and its command."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from judge.sandbox.box import FolderKind, Tenant
from judge.sandbox.runtimes import path_for

PROGRAM = "/agent"
"""The agent's files, read-only."""
HOME = "/home/agent"
"""The agent's home and working directory, with the temporary folder in it."""
PERSISTENT = "/persistent"
FOLDERS = {FolderKind.TEMPORARY: HOME, FolderKind.PERSISTENT: PERSISTENT}
SCRATCH = "/tmp"  # noqa: S108 - a mount point inside the container
USER_NAME = "agent"
"""The user name of an agent, whatever its user id is."""
ACCOUNT_FILES = ("passwd", "group")
"""Files of /etc that have a line for the user and the group of an agent."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(home: str, scratch: str, tenant: Tenant, path: str = PATH) -> Mapping[str, str]:
    """All environment variables of an agent: nothing of the judge's own gets in."""
    own = {"PATH": path, "HOME": home, "TMPDIR": scratch, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
    return own | {"USER": USER_NAME, "LOGNAME": USER_NAME} | dict(tenant.environment)


def account_lines(uid: int) -> Mapping[str, str]:
    """The text of each of the `ACCOUNT_FILES` for an agent with this user and group."""
    return {
        "passwd": "root:x:0:0:root:/root:/bin/sh\n"
        f"{USER_NAME}:x:{uid}:{uid}:{USER_NAME}:{HOME}:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/bin/sh\n",
        "group": f"root:x:0:\n{USER_NAME}:x:{uid}:\nnogroup:x:65534:\n",
    }


def command_in_box(tenant: Tenant, program: str) -> tuple[str, ...]:
    """The agent's command, its words that name files of the staged program made paths under `program`, as its runtime
    writes them.

    The name of a folder stays a word unless it begins with a dot: `java -cp . Main` means the program's own folder.
    A list of paths with colons between them, such as a class path (`.:lib/x.jar:more/*`), is made a list of such paths
    if the program has all of them, folders too.
    """
    staged = tenant.program.resolve()
    return tuple(_word(word, staged, program, tenant.runtime) for word in tenant.command)


def _word(word: str, staged: Path, program: str, runtime: str) -> str:
    if file := _inside(word, staged, takes_folders=word.startswith(".")):
        return path_for(runtime, str(PurePosixPath(program) / file))
    paths = [_listed(part, staged) for part in word.split(":")] if ":" in word else []
    if paths and None not in paths:
        return ":".join(str(PurePosixPath(program) / path) for path in paths if path is not None)
    return word


def _listed(part: str, staged: Path) -> PurePosixPath | None:
    """What a part of a list of paths names, relative to the program; None if it has no such file or folder."""
    folder = part.removesuffix("/*")
    found = _inside(folder, staged, takes_folders=True)
    return found / "*" if found is not None and folder != part else found


def _inside(word: str, staged: Path, *, takes_folders: bool) -> PurePosixPath | None:
    """The file that a word names, relative to the program; None if it names none there."""
    if not word or word.startswith("/") or "\0" in word:
        return None
    file = (staged / word).resolve()
    if not file.is_relative_to(staged) or not (file.is_file() or (takes_folders and file.is_dir())):
        return None
    return PurePosixPath(file.relative_to(staged))
