"""Instruction sets of this host's processors, named as in /proc/cpuinfo."""

import re
from functools import cache
from pathlib import Path

from judge.base.text import printable, suggest

CPUINFO = Path("/proc/cpuinfo")
MAX_CPUINFO_BYTES = 16 << 20

_X86 = (
    "sse sse2 pni ssse3 sse4a sse4_1 sse4_2 popcnt abm movbe bmi1 bmi2 adx aes vaes pclmulqdq vpclmulqdq gfni sha_ni "
    "f16c fma fma4 xop avx avx2 avx_vnni avx_ifma avx512f avx512bw avx512cd avx512dq avx512vl avx512ifma avx512vbmi "
    "avx512_vbmi2 avx512_vnni avx512_bitalg avx512_vpopcntdq avx512_bf16 avx512_fp16 avx512_vp2intersect amx_tile "
    "amx_int8 amx_bf16"
)
_ARM = (
    "fp asimd asimdhp asimdrdm asimddp asimdfhm crc32 sha1 sha2 sha3 pmull atomics sve sve2 i8mm bf16 svei8mm svebf16"
)
INSTRUCTION_SETS = frozenset(_X86.split()) | frozenset(_ARM.split())
_OTHER_NAMES = {"sse3": "pni", "lzcnt": "abm", "bmi": "bmi1", "sha": "sha_ni", "neon": "asimd", "dotprod": "asimddp"}

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


def check_instruction_set(name: str) -> str:
    """The name. Raises ValueError with the fix if it is unknown."""
    if name in INSTRUCTION_SETS:
        return name
    other = name.lower().replace(".", "_")
    known = _OTHER_NAMES.get(other, other)
    hint = f"did you mean {known!r}?" if known in INSTRUCTION_SETS else suggest(name[:64], INSTRUCTION_SETS)
    raise ValueError(f"unknown instruction set '{printable(name, 64)}'; {hint}")
