"""All limits for submissions: the table `[intake]` of a contest's file, with defaults and bounds."""

from typing import ClassVar

from pydantic import Field

from judge.base.parsing import FrozenModel
from judge.notices.policy import NoticePolicy
from judge.sandbox.box import Limits
from judge.store.types import UploadLimits
from judge.submissions.path_checks import Bounds


class TreeLimits(FrozenModel):
    """Limits of a tree of files, as sent and as built."""

    total_bytes: int = Field(default=256 << 20, ge=1)
    """Total size of all files."""
    file_bytes: int = Field(default=128 << 20, ge=1)
    entries: int = Field(default=4096, ge=1)
    """Number of files and directories, including those that occur only in paths."""
    depth: int = Field(default=16, ge=1)
    """Maximum number of names in a path."""
    name_bytes: int = Field(default=128, ge=1, le=255)
    path_bytes: int = Field(default=512, ge=1, le=2048)

    @property
    def bounds(self) -> Bounds:
        return Bounds(**self.model_dump())

    @property
    def stream_bytes(self) -> int:
        """Tar file size, with headers, path and padding per entry."""
        return self.total_bytes + self.entries * (4 * 512 + self.path_bytes) + 20 * 512


class UnpackLimits(FrozenModel):
    """Limits of the box that reads an archive, and of its expansion."""

    ratio: float = Field(default=200.0, ge=1)
    """Maximum ratio of unpacked to packed size."""
    ratio_from_bytes: int = Field(default=8 << 20, ge=0)
    """Unpacked size from which the ratio is checked."""
    seconds: float = Field(default=60.0, gt=0)
    memory_bytes: int = Field(default=256 << 20, ge=32 << 20)
    scratch_bytes: int = Field(default=1 << 20, ge=4096)
    log_bytes: ClassVar[int] = 64 << 10
    kept_log_bytes: ClassVar[int] = 4 << 10
    """As in `BuildLimits`."""

    def box(self) -> Limits:
        """The box needs almost no disk space."""
        return Limits(
            memory_bytes=self.memory_bytes,
            temporary_bytes=self.scratch_bytes,
            scratch_bytes=self.scratch_bytes,
            shm_bytes=0,
            processes=8,
        )


class BuildLimits(FrozenModel):
    """Limits of the box that builds sources."""

    seconds: float = Field(default=300.0, gt=0)
    memory_bytes: int = Field(default=1 << 30, ge=32 << 20)
    work_bytes: int = Field(default=512 << 20, ge=1 << 20)
    """Size of the build directory for sources, objects and programs. It is memory, in addition to `memory_bytes`."""
    work_inodes: int = Field(default=16384, ge=16)
    scratch_bytes: int = Field(default=256 << 20, ge=1 << 20)
    """Size of /tmp for compilers' temporary files. It is also memory."""
    file_bytes: int = Field(default=256 << 20, ge=1 << 20)
    processes: int = Field(default=64, ge=8)
    open_files: int = Field(default=256, ge=16)
    log_bytes: int = Field(default=4 << 20, ge=1024)
    """Maximum output of a build before it is ended."""
    kept_log_bytes: int = Field(default=32 << 10, ge=1024)
    """Size of the shown log: its first and last half."""

    def box(self) -> Limits:
        return Limits(
            memory_bytes=self.memory_bytes,
            temporary_bytes=self.work_bytes,
            temporary_inodes=self.work_inodes,
            scratch_bytes=self.scratch_bytes,
            processes=self.processes,
            open_files=self.open_files,
            file_bytes=self.file_bytes,
        )


class IntakeLimits(FrozenModel):
    """All processing limits: `[upload]`, `[tree]`, `[unpack]` and `[build]`."""

    upload_bytes: int = Field(default=64 << 20, ge=1)
    """Size of one upload."""
    check_s: float = Field(default=1800, gt=0)
    """Maximum awake time of an agent in its check, at most half of `process_s`. Then it is refused."""
    read_s: float = Field(default=20, gt=0)
    """CPU time for reading an upload's agent.toml and programs on the host. Then it is refused."""
    tree: TreeLimits = TreeLimits()
    unpack: UnpackLimits = UnpackLimits()
    build: BuildLimits = BuildLimits()


class IntakePolicy(UploadLimits, IntakeLimits):
    """Sizes are in bytes, times in seconds. Where 0 is allowed, it means no limit."""

    uploads_at_once: int = Field(default=2, ge=1)
    """Concurrent uploads of one author."""

    # Request rates.
    requests_per_minute: int = Field(default=120, ge=1)
    """Requests with the tokens of one author."""
    address_requests_per_minute: int = Field(default=240, ge=1)
    """Requests from one address (IPv6: one /64)."""
    strangers_per_minute: int = Field(default=20, ge=1)
    """Requests from one address without a valid token. Further ones are rejected until later."""
    connections: int = Field(default=500, ge=1)
    connections_per_address: int = Field(default=40, ge=1)

    # Slow connections.
    head_s: float = Field(default=10, gt=0)
    """Maximum time from the connection, or from the last answer, to the end of a request's headers."""
    idle_s: float = Field(default=20, gt=0)
    """Maximum time between two parts of an upload."""
    least_bytes_per_s: int = Field(default=16384, ge=1)
    """Minimum average rate of an upload after the first `idle_s`."""
    request_s: float = Field(default=60, gt=0)
    """Maximum time of a request other than an upload, and of one part in a long answer."""

    # Processing.
    workers: int = Field(default=1, ge=1)
    """Submissions processed at the same time, each in its own slot."""
    process_s: float = Field(default=3600, gt=0)
    """Maximum processing time of a submission, without waiting for a core. Then its worker is killed as a host failure.
    """
    tries: int = Field(default=3, ge=1)
    """Consecutive failures of the host, without kills of the judge, after which the organiser has to decide on a
    submission.
    """
    again_s: float = Field(default=60, ge=0)
    """Delay of the first retry, and after the second kill of the judge; it doubles with each further one."""

    # Practice games, which only the author sees.
    practice_games: int = Field(default=3, ge=0, le=100)
    """Games that a submission plays after it has passed, and on each request of its author."""
    practice_games_per_day: int = Field(default=12, ge=0)
    """Additional games that an author may request in 24 hours."""
    challenges_per_day: int = Field(default=10, ge=0, le=1000)
    """Unrated games in a ladder that an author may request in 24 hours against opponents of their choice."""
    versions_per_day: int = Field(default=6, ge=0)
    """New versions of an author's agents that enter a ladder in 24 hours. Others wait; only the newest one enters."""
    practice_s: float = Field(default=10, gt=0)
    """Game time of an agent in a practice game, if the policy limits it. Turn limits are not changed."""

    practice_days: float = Field(default=30, gt=0)
    """Days after which a practice game's record is removed. Its result is kept."""

    notices: NoticePolicy = NoticePolicy()
    """Notices to authors."""

    @property
    def limits(self) -> IntakeLimits:
        """The processing limits of an upload."""
        return self.model_copy(update={"check_s": min(self.check_s, self.process_s / 2)})
