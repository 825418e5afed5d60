"""The flags of this host's processors, as in /proc/cpuinfo."""

import re
from functools import cache
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
MAX_CPUINFO_BYTES = 16 << 20

_FLAGS = re.compile(r"^(?:flags|Features)[ \t]*:(.*)$", re.MULTILINE)
_FLAG = re.compile(r"[a-z0-9_.]{1,32}")


def processor_flags() -> frozenset[str]:
    """The flags that all processors have; empty if they are unknown."""
    return _flags_of(CPUINFO)


@cache
def _flags_of(path: Path) -> frozenset[str]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_CPUINFO_BYTES + 1)
    except OSError:
        return frozenset()
    return frozenset() if len(data) > MAX_CPUINFO_BYTES else parse_flags(data.decode("ascii", "replace"))


def parse_flags(text: str) -> frozenset[str]:
    """The flags that all processors in the text of /proc/cpuinfo have."""
    lines = dict.fromkeys(_FLAGS.findall(text))
    sets = [frozenset(word for word in line.split() if _FLAG.fullmatch(word)) for line in lines]
    return frozenset.intersection(*sets) if sets else frozenset()
