"""Kept folders with a quota: sized tmpfs volumes that a trusted container keeps mounted. See decision 0006.

Its root has two capabilities: reading closed files, changing owners.
"""

import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

from judge.base.errors import HostError
from judge.base.logs import get_logger
from judge.base.owner import Owner
from judge.sandbox.docker.engine import REQUEST_TIMEOUT_S, Engine
from judge.sandbox.docker.first_process import STDOUT, Frames
from judge.sandbox.docker.hardening import ATTACHED, volume_mount
from judge.sandbox.docker.images import keeper_image
from judge.sandbox.folders import (
    PACKING,
    CollectedFolder,
    Folder,
    Keeper,
    collect_archive,
    collect_nothing,
    note_on_others,
)
from judge.sandbox.machine.pipes import CHUNK_BYTES
from judge.sandbox.machine.users import claim_user

log = get_logger()

ROOT = "/folders"

OWN_MEMORY_BYTES = 64 << 20
"""In addition to the pages of the volumes that the container fills."""

MARK_BYTES = 16

GONE, REPLACED, WHOLE = b"gone", b"replaced", b"whole"
"""The folder was removed; it is no directory any more; tar packed all of it."""

SCRIPT = f"""
export LC_ALL=C
while read -r verb volume folder uid size mark; do
    at="{ROOT}/$volume/$folder"
    case $verb in
    load)
        mkdir -p "$at" && head -c "$size" | tar --extract --file=- -C "$at" --no-same-owner &&
            find "{ROOT}/$volume" -mindepth 1 -exec chown -h "$uid:$uid" {{}} + && printf loaded
        ;;
    pack)
        stat -f -c '%b %f %S %c %d' "{ROOT}/$volume"
        find "{ROOT}/$volume" -mindepth 1 -maxdepth 1 ! -name "$folder" -printf b | wc -c
        if [ -d "$at" ] && [ ! -L "$at" ]; then
            find "$at" -type s -printf s | wc -c
            {{ tar {" ".join(PACKING)} -C "$at" . && printf whole; }} | head -c "$size"
        elif [ -e "$at" ] || [ -L "$at" ]; then
            echo replaced
        else
            echo gone
        fi
        ;;
    esac
    printf %s "$mark"
done
"""
"""One command per line until the judge disconnects. `load` is followed by `size` bytes of a tar file. Each answer ends
with `mark`, which no file can contain, because it was drawn after the agents' end.
"""


class VolumeKeeper(Keeper):
    """A keeper with volumes of the Engine."""

    def __init__(self, folders: Sequence[Folder], game_id: str, cores: Sequence[int]) -> None:
        super().__init__(folders)
        self._game_id = game_id
        self._cores = cores
        self._parts = ExitStack()
        self._attached: socket.socket | None = None

    def make(self) -> None:
        for seat in {folder.seat for folder in self._folders}:
            self.uids[seat] = self._parts.enter_context(closing(claim_user())).uid
        self._engine = self._parts.enter_context(closing(Engine()))
        token = secrets.token_hex(4)
        for folder in self._folders:
            name = f"judge-{self._game_id}-{token}-{folder.volume}"
            # Owned by an unused user: an agent cannot change the root's mode or attributes.
            quota = f"size={folder.size_bytes},nr_inodes={folder.inodes},mode=1777"
            self._engine.create_volume(name, f"{quota},nosuid,nodev,noexec", self._labels())
            self._parts.callback(self._remove, self._engine.remove_volume, name)
            self.places[folder.place] = name

    def load(self) -> None:
        container = self._engine.create(self._config(keeper_image()))
        self._parts.callback(self._remove, self._engine.remove, container)
        self._attached = self._parts.enter_context(closing(self._engine.attach(container)))
        self._attached.settimeout(REQUEST_TIMEOUT_S)
        self._engine.start(container)
        for folder in self._folders:
            if folder.start.inodes:
                data = folder.start.data
                answer = self._ask("load", folder, len(data), data, room=CHUNK_BYTES)
                if answer != b"loaded":
                    raise HostError(
                        f"The {folder.kind} folder of seat {folder.seat} could not be filled, game {self._game_id}: "
                        f"see how much memory the host has left"
                    )

    def close(self) -> None:
        self._parts.close()

    def _remove(self, remove: Callable[[str], None], name: str) -> None:
        try:
            remove(name)
        except HostError as error:
            log.warning("folders not removed: left to the reaper", game=self._game_id, error=str(error))

    def _collected(self, folder: Folder) -> CollectedFolder:
        size = folder.room.stream_bytes + 1
        try:
            answer = self._ask("pack", folder, size, room=size + CHUNK_BYTES)
        except HostError as error:
            log.warning("a folder is not kept", game=self._game_id, seat=folder.seat, why=str(error))
            return collect_archive(None, folder)
        return _left(answer, folder)

    def _ask(self, verb: str, folder: Folder, size: int, data: bytes = b"", *, room: int) -> bytes:
        mark = secrets.token_hex(MARK_BYTES)
        command = f"{verb} {folder.volume} {folder.name} {self.uids[folder.seat]} {size} {mark}\n"
        if self._attached is None:
            raise HostError("The keeper of the folders was not started, or did not answer")
        try:
            self._attached.sendall(command.encode("ascii") + data)
            return self._answer(self._attached, mark.encode("ascii"), room)
        except (OSError, HostError) as error:
            self._attached = None  # a late answer would be taken for that of the next folder
            if isinstance(error, HostError):
                raise
            raise HostError(f"The keeper of the folders does not answer: {error}") from error

    @staticmethod
    def _answer(attached: socket.socket, mark: bytes, room: int) -> bytes:
        frames, answer = Frames(8), bytearray()
        while not answer.endswith(mark):
            data = attached.recv(CHUNK_BYTES)
            if not data or len(answer) > room:
                raise HostError("The keeper of the folders has ended, or does not end its answer")
            for stream, payload in frames.feed(data):
                if stream == STDOUT:
                    answer += payload
        return bytes(answer[: -len(mark)])

    def _labels(self) -> dict[str, str]:
        return {"judge.owner": Owner.me().encode(), "judge.game": self._game_id}

    def _config(self, image: str) -> dict[str, Any]:
        memory = OWN_MEMORY_BYTES + sum(folder.size_bytes for folder in self._folders)
        return {
            "Image": image,
            "Entrypoint": ["/bin/sh", "-c", SCRIPT],
            "Labels": self._labels(),
            "WorkingDir": "/",
            **ATTACHED,
            "HostConfig": {
                "CapDrop": ["ALL"],
                "CapAdd": ["CHOWN", "DAC_OVERRIDE"],
                "SecurityOpt": ["no-new-privileges"],
                "ReadonlyRootfs": True,
                "NetworkMode": "none",
                "IpcMode": "none",
                "LogConfig": {"Type": "none"},
                "Memory": memory,
                "MemorySwap": memory,
                "PidsLimit": 16,
                "CpusetCpus": ",".join(map(str, self._cores)),
                "Mounts": [volume_mount(self.places[each.place], f"{ROOT}/{each.volume}") for each in self._folders],
            },
        }


def _left(answer: bytes, folder: Folder) -> CollectedFolder:
    numbers, beside, found, packed = [*answer.split(b"\n", 3), b"", b"", b""][:4]
    try:
        blocks, blocks_free, block_bytes, inodes, inodes_free = map(int, numbers.split())
        others = 0 if folder.name == "." else int(beside)
        sockets = 0 if found in (GONE, REPLACED) else int(found)
    except ValueError:
        return collect_archive(None, folder)
    if found in (GONE, REPLACED):
        left = collect_nothing(folder, replaced=found == REPLACED)
    elif packed.endswith(WHOLE):
        left = collect_archive(packed.removesuffix(WHOLE), folder)
    else:
        left = collect_archive(packed if len(packed) > folder.room.stream_bytes else None, folder)
    passed_over = (f"not kept: {sockets} sockets",) if sockets else ()
    return replace(
        left,
        used_bytes=(blocks - blocks_free) * block_bytes,
        used_inodes=inodes - inodes_free,
        notes=(*left.notes, *passed_over, *note_on_others(folder, others)),
    )
