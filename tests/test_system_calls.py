"""docs/system-calls.md and the profiles of system calls say the same."""

import pytest

from judge.attacks.table import ATTACKS
from judge.sandbox.docker import seccomp
from scripts.system_calls import PAGE, load_reasons, page

NAME_A_PROCESS = {
    "capget", "clock_getres", "clock_gettime", "clock_nanosleep", "get_robust_list", "getpgid", "getpriority", "getsid",
    "ioprio_get", "ioprio_set", "kcmp", "kill", "migrate_pages", "move_pages", "perf_event_open", "pidfd_getfd",
    "pidfd_open", "pidfd_send_signal", "prlimit64", "process_madvise", "process_mrelease", "process_vm_readv",
    "process_vm_writev", "ptrace", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "sched_getaffinity", "sched_getattr",
    "sched_getparam", "sched_getscheduler", "sched_rr_get_interval", "sched_setaffinity", "sched_setattr",
    "sched_setparam", "sched_setscheduler", "setpgid", "setpriority", "tgkill", "timer_create", "tkill", "wait4",
    "waitid",
}  # fmt: skip
"""The kernel's calls with a process id, or with a clock that contains one, among their arguments."""

REASONS = load_reasons()


def test_page_equals_the_script_output() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run .venv/bin/python scripts/system_calls.py"


@pytest.mark.parametrize("section", ["allow", "only", "skip"])
def test_each_part_of_a_profile_has_a_reason_and_each_reason_a_part(section: str) -> None:
    profiles = map(seccomp.load_profile, seccomp.profile_names())
    assert {part for profile in profiles for part in getattr(profile, section)} == set(REASONS[section])
    for entry in REASONS[section].values():
        assert entry["reason"]
        assert entry.get("bound") or section == "skip"


def test_each_individually_limited_call_is_admitted() -> None:
    profiles = [seccomp.load_profile(name) for name in seccomp.profile_names()]
    for part, entry in REASONS["allow"].items():
        admitted = {call for profile in profiles for call in profile.allow.get(part, ())}
        assert set(entry.get("calls", ())) <= admitted


def test_each_permitted_call_that_names_a_process_is_listed() -> None:
    listed = {call.partition("-")[0] for row in REASONS["first"] for call in row["calls"]}
    permitted = {call for name in seccomp.profile_names() for call in seccomp.load_profile(name).calls}
    assert NAME_A_PROCESS & permitted <= listed


def test_each_attack_that_is_named_exists() -> None:
    known = {attack.id for attack in ATTACKS}
    named = {
        attack for section in ("later", "memory") for entry in REASONS[section] for attack in entry.get("attacks", ())
    }
    assert named <= known
