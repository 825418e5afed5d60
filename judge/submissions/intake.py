"""Every number that the intake enforces: the table `[intake]` of a contest's file, with defaults; bounds of uploads."""

from pydantic import BaseModel, ConfigDict, Field

from judge.notices.policy import NoticePolicy
from judge.sandbox.box import Limits
from judge.store.submission_types import Allowance
from judge.submissions.path_checks import Bounds


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TreeLimits(_Section):
    """What a tree of files may be: as it was sent, and again as its build left it."""

    total_bytes: int = Field(default=256 << 20, ge=1)
    """All files together."""
    file_bytes: int = Field(default=128 << 20, ge=1)
    entries: int = Field(default=4096, ge=1)
    """Files and directories, those included that are only named in a path."""
    depth: int = Field(default=16, ge=1)
    """Names in a path."""
    name_bytes: int = Field(default=128, ge=1, le=255)
    path_bytes: int = Field(default=512, ge=1, le=2048)

    @property
    def bounds(self) -> Bounds:
        """The same numbers for what runs in a box."""
        return Bounds(**self.model_dump())

    @property
    def stream_bytes(self) -> int:
        """The most that a tar file of such a tree is: for each entry headers, its path and a last block."""
        return self.total_bytes + self.entries * (4 * 512 + self.path_bytes) + 20 * 512


class UnpackLimits(_Section):
    """The box in which an archive is read, and what marks a bomb."""

    ratio: float = Field(default=200.0, ge=1)
    """How many times its packed size an archive may become."""
    ratio_from_bytes: int = Field(default=8 << 20, ge=0)
    """Below this unpacked size nobody asks for the ratio."""
    seconds: float = Field(default=60.0, gt=0)
    memory_bytes: int = Field(default=256 << 20, ge=32 << 20)
    scratch_bytes: int = Field(default=1 << 20, ge=4096)

    def box(self) -> Limits:
        """The limits of the box: it writes no file, so it has next to no room."""
        return Limits(
            memory_bytes=self.memory_bytes,
            temporary_bytes=self.scratch_bytes,
            scratch_bytes=self.scratch_bytes,
            shm_bytes=0,
            processes=8,
        )


class BuildLimits(_Section):
    """The box in which sources are built."""

    seconds: float = Field(default=300.0, gt=0)
    memory_bytes: int = Field(default=1 << 30, ge=32 << 20)
    work_bytes: int = Field(default=512 << 20, ge=1 << 20)
    """Size of the directory that is built in: sources, objects and programs. It is memory, beside `memory_bytes`."""
    work_inodes: int = Field(default=16384, ge=16)
    scratch_bytes: int = Field(default=256 << 20, ge=1 << 20)
    """Size of /tmp, where compilers put what they hand on. It is memory too."""
    file_bytes: int = Field(default=256 << 20, ge=1 << 20)
    processes: int = Field(default=64, ge=8)
    open_files: int = Field(default=256, ge=16)
    log_bytes: int = Field(default=4 << 20, ge=1024)
    """How much a build may print before it is ended."""
    kept_log_bytes: int = Field(default=32 << 10, ge=1024)
    """How much of that is shown: the first half and the last."""

    def box(self) -> Limits:
        """The limits of the box."""
        return Limits(
            memory_bytes=self.memory_bytes,
            temporary_bytes=self.work_bytes,
            temporary_inodes=self.work_inodes,
            scratch_bytes=self.scratch_bytes,
            processes=self.processes,
            open_files=self.open_files,
            file_bytes=self.file_bytes,
        )


class IntakeLimits(_Section):
    """All of it: `[upload]` is what is received, `[tree]`, `[unpack]` and `[build]` what is made of it."""

    upload_bytes: int = Field(default=64 << 20, ge=1)
    check_s: float = Field(default=1800, gt=0)
    """How long the agent may be awake in its check."""
    read_s: float = Field(default=20, gt=0)
    """CPU time that reading its agent.toml and its sources may take on the host."""
    tree: TreeLimits = TreeLimits()
    unpack: UnpackLimits = UnpackLimits()
    build: BuildLimits = BuildLimits()


class IntakePolicy(BaseModel):
    """Sizes in bytes, times in seconds; where 0 is allowed it bounds nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # What an author may send.
    upload_bytes: int = Field(default=IntakeLimits.model_fields["upload_bytes"].default, ge=1)
    """One upload."""
    author_bytes: int = Field(default=2 << 30, ge=0)
    """All uploads of an author, which are all kept."""
    uploads_per_hour: int = Field(default=12, ge=0)
    waiting_per_author: int = Field(default=3, ge=0)
    """Received and not yet processed."""
    waiting: int = Field(default=200, ge=0)
    """The same, of all authors together."""
    uploads_at_once: int = Field(default=2, ge=1)
    """Uploads of one author that are under way at the same time."""

    # How often anybody may ask.
    requests_per_minute: int = Field(default=120, ge=1)
    """With the tokens of one author."""
    address_requests_per_minute: int = Field(default=240, ge=1)
    """From one address (IPv6: one /64)."""
    strangers_per_minute: int = Field(default=20, ge=1)
    """Without a token that holds, from one address; the rest are told to come back later."""
    connections: int = Field(default=500, ge=1)
    connections_per_address: int = Field(default=40, ge=1)

    # How slow anybody may be.
    head_s: float = Field(default=10, gt=0)
    """From the connection, or from the last answer, to the end of a request's headers."""
    idle_s: float = Field(default=20, gt=0)
    """Between two pieces of an upload."""
    least_bytes_per_s: int = Field(default=16384, ge=1)
    """Of an upload on the average, after the first `idle_s`."""
    request_s: float = Field(default=60, gt=0)
    """A whole request that is no upload, and each part of a long answer."""

    # Processing.
    workers: int = Field(default=1, ge=1)
    """Submissions that are processed at the same time; each is examined in a slot that nothing else plays in."""
    process_s: float = Field(default=3600, gt=0)
    """A whole submission, without waiting for a core; then its worker is killed, and the host has failed."""
    check_s: float = Field(default=IntakeLimits.model_fields["check_s"].default, gt=0)
    """How long an agent may be awake in its check, and never more than half of `process_s`; then it is refused."""
    read_s: float = Field(default=IntakeLimits.model_fields["read_s"].default, gt=0)
    """CPU time that reading an upload's agent.toml and sources may take on the host; then it is refused."""
    tries: int = Field(default=3, ge=1)
    """How often in a row the host may fail before a submission is left to the organiser."""
    again_s: float = Field(default=60, ge=0)
    """How long the first retry waits; each further one twice as long as the one before."""

    # Practice games: what passed plays them against house agents, and only its author sees them.
    practice_games: int = Field(default=3, ge=0, le=100)
    """How many a submission plays as soon as it has passed, and each time its author asks for more."""
    practice_games_per_day: int = Field(default=12, ge=0)
    """How many an author may ask for in 24 hours, beside those."""
    practice_s: float = Field(default=10, gt=0)
    """All turns of an agent in such a game, where the policy limits them together; its turns are shorter in the same
    proportion."""

    practice_days: float = Field(default=30, gt=0)
    """How long the record of such a game is stored; that it was played, and how it ended, stays."""

    notices: NoticePolicy = NoticePolicy()
    """How authors are told what happens."""

    # What an upload may be, unpacked and built, and what it may use on the way.
    tree: TreeLimits = TreeLimits()
    unpack: UnpackLimits = UnpackLimits()
    build: BuildLimits = BuildLimits()

    @property
    def limits(self) -> IntakeLimits:
        """What an upload is held to while it is processed."""
        return IntakeLimits(
            upload_bytes=self.upload_bytes,
            check_s=min(self.check_s, self.process_s / 2),
            read_s=self.read_s,
            tree=self.tree,
            unpack=self.unpack,
            build=self.build,
        )

    @property
    def allowance(self) -> Allowance:
        """What the register holds an author to."""
        return Allowance(
            uploads_per_hour=self.uploads_per_hour,
            waiting=self.waiting_per_author,
            waiting_of_all=self.waiting,
            bytes_kept=self.author_bytes,
        )
