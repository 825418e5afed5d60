"""Opens boxes and keepers of folders of each kind."""

from collections.abc import Sequence

from judge.sandbox.box import Box, BoxKind, BoxPolicy, FolderKind, Limits, Tenant
from judge.sandbox.folders import DIRECTORIES, Folder, Keeper, LocalKeeper
from judge.sandbox.layout import PERSISTENT
from judge.sandbox.runtimes import path_for


def persistent_path(kind: BoxKind, runtime: str) -> str:
    """Path of an agent's persistent folder: equal in every game, without spaces.

    Relative in a process box, whose working directory changes.
    """
    path = PERSISTENT if kind == "docker" else f"../{DIRECTORIES[FolderKind.PERSISTENT]}"
    return path_for(runtime, path)


def open_keeper(kind: BoxKind, folders: Sequence[Folder], game_id: str, cores: Sequence[int]) -> Keeper:
    """Not yet created; it may run on `cores`."""
    if not folders:
        return Keeper()
    if kind == "process":
        return LocalKeeper(folders)

    from judge.sandbox.docker.folder_volumes import (
        VolumeKeeper,  # slow to import
    )

    return VolumeKeeper(folders, game_id, cores)


def open_box(kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
    """Unprepared. `process` isolates nothing; it is for authors' own agents. Raises HostError without an Engine."""
    if kind == "process":
        from judge.sandbox.process.process_box import ProcessBox

        return ProcessBox(tenant, limits, policy)

    from judge.sandbox.docker import requirements  # slow to import
    from judge.sandbox.docker.attach_box import AttachBox
    from judge.sandbox.docker.docker_box import DockerBox

    return (AttachBox if requirements.pipes_obstacle(policy) else DockerBox)(tenant, limits, policy)
