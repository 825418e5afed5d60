"""Where agents live: boxes, and everything that is needed to make, watch and remove them."""

from collections.abc import Sequence

from judge.sandbox.box import Box, BoxKind, BoxPolicy, FolderKind, Limits, Tenant
from judge.sandbox.folders import DIRECTORIES, Folder, Keeper, LocalKeeper
from judge.sandbox.layout import PERSISTENT
from judge.sandbox.runtimes import path_for

__all__ = ["Box", "BoxKind", "BoxPolicy", "Limits", "Tenant", "open_box", "open_keeper", "persistent_path"]


def persistent_path(kind: BoxKind, runtime: str) -> str:
    """Where an agent of this runtime finds its persistent folder in such a box: the same in every game, without spaces.

    A process finds it beside its working directory, whose own path is another in every game.
    """
    path = PERSISTENT if kind == "docker" else f"../{DIRECTORIES[FolderKind.PERSISTENT]}"
    return path_for(runtime, path)


def open_keeper(
    kind: BoxKind, folders: Sequence[Folder], game_id: str, cores: Sequence[int], policy: BoxPolicy
) -> Keeper:
    """A keeper of these folders for one game, nothing made yet; `cores` are where it may work."""
    if not folders:
        return Keeper()
    if kind == "process":
        return LocalKeeper(folders)

    from judge.sandbox.docker.folder_volumes import (
        VolumeKeeper,  # here: the Engine's client takes long to import
    )

    return VolumeKeeper(folders, game_id, cores, policy)


def open_box(kind: BoxKind, tenant: Tenant, limits: Limits, policy: BoxPolicy) -> Box:
    """A box for this tenant, not yet prepared. `process` isolates nothing: for authors who try their own agent."""
    if kind == "process":
        from judge.sandbox.process.process_box import ProcessBox

        return ProcessBox(tenant, limits, policy)

    from judge.sandbox.docker.docker_box import DockerBox  # here: the Engine's client takes long to import

    return DockerBox(tenant, limits, policy)
