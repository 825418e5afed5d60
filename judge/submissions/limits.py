"""What an upload may be and may use on its way to an agent; every number is the organiser's to change."""

from pydantic import BaseModel, ConfigDict, Field

from judge.sandbox.box import Limits
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
