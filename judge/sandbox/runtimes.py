"""What the judge knows of its own runtimes beside their images: the system calls they need, how they write a path."""

from dataclasses import dataclass

WINDOWS_ROOT = "Z:"
"""The drive that Wine has for the root of the file system."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """One of the judge's own; an organiser's image is like `Runtime()`."""

    seccomp: str = ""
    """The profile that its programs need; empty: the policy's profile for all."""
    is_windows: bool = False
    """Its programs know drives and backslashes."""


RUNTIMES = {
    "native": Runtime(),
    "python": Runtime(),
    "java": Runtime(),
    "wine": Runtime(seccomp="wine32", is_windows=True),
}
"""By name: what every policy has."""


def runtime_called(name: str) -> Runtime:
    """The runtime of this name; for other images the default."""
    return RUNTIMES.get(name, Runtime())


def path_for(runtime: str, path: str) -> str:
    """A path in a box as programs of this runtime write it: `/agent/x.exe` is `Z:\\agent\\x.exe` under Wine."""
    if not runtime_called(runtime).is_windows:
        return path
    drive = WINDOWS_ROOT if path.startswith("/") else ""
    return drive + path.replace("/", "\\")
