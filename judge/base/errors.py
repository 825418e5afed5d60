"""What went wrong outside a game, split by who can fix it; an agent's wrong is a verdict, never an exception."""


class JudgeError(Exception):
    """Root of every error that the judge raises on purpose; the text is one sentence an operator can act on."""


class InputError(JudgeError):
    """A person gave something wrong: the text names the file, line or field and the fix."""


class HostError(JudgeError):
    """The Engine, the kernel or the disk failed: no agent is to blame, the game is void."""


class StoreLostError(HostError):
    """The database cannot be reached: nothing was written, or nobody knows whether it was; it may come back."""


class StoreBusyError(StoreLostError):
    """Another session has kept a lock of the database for too long: nothing was written, and a retry may succeed."""


class NotReadyError(HostError):
    """The host lacks something that somebody must bring first, such as an image; the work can wait for it."""
