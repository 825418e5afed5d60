"""Opens boxes and keepers of folders of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judge.sandbox.box import Box, BoxKind, BoxPolicy, Limits, Tenant
    from judge.sandbox.folders import Folder, Keeper


def open_keeper(kind: BoxKind, folders: Sequence[Folder], game_id: str, cores: Sequence[int]) -> Keeper:
    """Not yet created; it may run on `cores`."""
    from judge.sandbox.folders import Keeper, LocalKeeper

    if not folders:
        return Keeper()
    if kind == "process":
        return LocalKeeper(folders)

    from judge.sandbox.docker.folder_volumes import VolumeKeeper  # slow to import

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
