"""An agent's environment: paths, variables, user and command."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from judge.base.durable_files import is_directory, is_file
from judge.sandbox.box import PERSISTENT, FolderKind, Tenant, path_for

PROGRAM = "/agent"
HOME = "/home/agent"
"""Also the working directory, with the temporary folder in it."""
FOLDERS = {FolderKind.TEMPORARY: HOME, FolderKind.PERSISTENT: PERSISTENT}
SCRATCH = "/tmp"  # noqa: S108 - a mount point inside the container
USER_NAME = "agent"
ACCOUNT_FILES = ("passwd", "group")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(home: str, scratch: str, tenant: Tenant, path: str = PATH) -> Mapping[str, str]:
    """All variables of an agent. None of the judge's are passed on."""
    variables = {"PATH": path, "HOME": home, "TMPDIR": scratch, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
    return variables | {"USER": USER_NAME, "LOGNAME": USER_NAME} | dict(tenant.environment)


def account_lines(uid: int) -> dict[str, str]:
    """Texts of the `ACCOUNT_FILES`."""
    return {
        "passwd": "root:x:0:0:root:/root:/bin/sh\n"
        f"{USER_NAME}:x:{uid}:{uid}:{USER_NAME}:{HOME}:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/bin/sh\n",
        "group": f"root:x:0:\n{USER_NAME}:x:{uid}:\nnogroup:x:65534:\n",
    }


def command_in_box(tenant: Tenant, program: str) -> tuple[str, ...]:
    """Names of staged files are replaced by their paths in the box.

    A folder's name is replaced only if it begins with a dot, as in `java -cp . Main`. A class path
    (`.:lib/x.jar:more/*`) is converted if the program has all its parts.
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
    folder = part.removesuffix("/*")
    found = _inside(folder, staged, takes_folders=True)
    return found / "*" if found is not None and folder != part else found


def _inside(word: str, staged: Path, *, takes_folders: bool) -> PurePosixPath | None:
    if not word or word.startswith("/") or "\0" in word:
        return None
    file = Path(os.path.realpath(staged / word))  # Path.resolve raises for loops
    if not file.is_relative_to(staged) or not (is_file(file) or (takes_folders and is_directory(file))):
        return None
    return PurePosixPath(file.relative_to(staged))
