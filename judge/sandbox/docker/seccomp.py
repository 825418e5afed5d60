"""Converts policies/seccomp, short TOML lists of allowed system calls, to the Engine's form.

Other calls are denied with EPERM. An organiser's profile is such a file, or a .json file of the Engine's form.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field

from judge.base.errors import InputError
from judge.base.parsing import FrozenModel, parse
from judge.base.resources import POLICIES
from judge.base.toml_files import parse as parse_toml
from judge.base.toml_files import read_text
from judge.sandbox.box import BoxPolicy

PROFILES = POLICIES / "seccomp"
NATIVE, WINE, ENGINE = "native", "wine32", "engine"

ENOSYS = 38


class Bits(FrozenModel):
    """Numbers whose bits of `mask` equal those of `value`."""

    mask: int = Field(gt=0)
    value: int

    def others(self) -> Iterator[dict[str, Any]]:
        """Each other number meets one of these conditions."""
        for bit in (1 << place for place in range(self.mask.bit_length())):
            if self.mask & bit:
                yield {"value": bit, "valueTwo": ~self.value & bit, "op": "SCMP_CMP_MASKED_EQ"}


class CallRule(FrozenModel):
    """Calls with one of `values` in an argument, without the bits of `without`, or outside `but`; else any call."""

    calls: tuple[str, ...]
    argument: int = Field(default=0, ge=0, le=5)
    values: dict[str, int] = Field(default_factory=dict)
    without: int | None = None
    but: Bits | None = None
    where: dict[int, int] = Field(default_factory=dict)

    def rules(self, action: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        others = [{"index": index, "value": value, "op": "SCMP_CMP_EQ"} for index, value in self.where.items()]
        for condition in self._conditions():
            args = [*others, {"index": self.argument, **condition}] if condition else others
            yield {"names": list(self.calls), **action, **({"args": args} if args else {})}

    def _conditions(self) -> Iterator[dict[str, Any]]:
        if self.without is not None:
            yield {"value": self.without, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
        if self.but is not None:
            yield from self.but.others()
        for value in self.values.values():
            yield {"value": value, "op": "SCMP_CMP_EQ"}
        if self.without is None and self.but is None and not self.values:
            yield {}


class Profile(FrozenModel):
    """policies/seccomp/native.toml explains the parts."""

    about: str = ""
    extends: str = ""
    entries: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    missing: tuple[str, ...] = ()
    allow: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    only: dict[str, CallRule] = Field(default_factory=dict)
    skip: dict[str, CallRule] = Field(default_factory=dict)

    def after(self, base: "Profile") -> "Profile":
        """This profile's `entries` replace those of the same machine in `base`."""
        allow = {name: base.allow.get(name, ()) + calls for name, calls in self.allow.items()}
        return Profile(
            about=self.about,
            entries=base.entries | self.entries,
            missing=base.missing + self.missing,
            allow=base.allow | allow,
            only=base.only | _extended(base.only, self.only),
            skip=base.skip | _extended(base.skip, self.skip),
        )

    @property
    def calls(self) -> frozenset[str]:
        parts = [*self.allow.values(), *(part.calls for part in self.only.values())]
        return frozenset(name for names in parts for name in names)

    def engine_form(self) -> dict[str, Any]:
        allowed = {"action": "SCMP_ACT_ALLOW"}
        rules: list[dict[str, Any]] = [{"names": list(calls), **allowed} for calls in self.allow.values()]
        for part in self.only.values():
            rules += part.rules(allowed)
        for part in self.skip.values():
            rules += part.rules({"action": "SCMP_ACT_ERRNO", "errnoRet": 0})
        rules.append({"names": list(self.missing), "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS})
        return {
            "defaultAction": "SCMP_ACT_ERRNO",
            "archMap": [
                {"architecture": _architecture(machine), "subArchitectures": [*map(_architecture, others)]}
                for machine, others in self.entries.items()
            ],
            "syscalls": rules,
        }


def profile_for(policy: BoxPolicy, runtime: str, needed: str) -> str:
    """The policy's for this runtime, else `needed`, else `NATIVE`."""
    return policy.seccomp_of.get(runtime) or needed or NATIVE


def profile_names() -> list[str]:
    """Included ones, sorted."""
    return sorted(path.stem for path in PROFILES.glob("*.toml"))


def load_profile(name: str) -> Profile:
    """Load an included profile or .toml file. Raises InputError."""
    path = Path(name) if name.endswith(".toml") else PROFILES / f"{name}.toml"
    if not name.endswith(".toml") and name not in profile_names():
        known = ", ".join([ENGINE, *profile_names()])
        raise InputError(f"there is no seccomp profile {name!r}: give {known}, or a file")
    profile = parse(Profile, parse_toml(path, read_text(path, "a seccomp profile")), str(path))
    return profile.after(load_profile(profile.extends)) if profile.extends else profile


def engine_text(name: str) -> str | None:
    """Profile text for the Engine; None for its default."""
    if name == ENGINE:
        return None
    if name.endswith(".json"):
        path = Path(name)
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"the seccomp profile {path} cannot be read: {error}") from None
    return _form(name) if name.endswith(".toml") else _shipped(name)


@cache
def _shipped(name: str) -> str:
    return _form(name)


def _form(name: str) -> str:
    return json.dumps(load_profile(name).engine_form())


def _extended(base: Mapping[str, CallRule], more: Mapping[str, CallRule]) -> dict[str, CallRule]:
    rules = dict(more)
    for name, rule in more.items():
        if (first := base.get(name)) is not None:
            both = {"calls": first.calls + rule.calls, "values": first.values | rule.values}
            rules[name] = rule.model_copy(update=both)
    return rules


def _architecture(machine: str) -> str:
    return f"SCMP_ARCH_{machine.upper()}"
