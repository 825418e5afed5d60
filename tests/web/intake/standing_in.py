"""A small gate for tests of what is around the gate: what an upload says first decides what becomes of it.

good NAME   an agent of that name, which passes        bad NAME    the same, refused by the check
host        the host fails the first time              crash       its worker is killed
hold FILE   is processed as long as FILE is not there  lock FILE   waits for the lock of FILE, as for a core
else        no agent comes of it
"""

import os
import signal
import time
from pathlib import Path

from judge.agents.agents import Agent
from judge.agents.manifest import AgentManifest
from judge.base.errors import HostError
from judge.base.locks import lock
from judge.store.types import UploadStep
from judge.submissions.check import CheckReport, Finding, Grade
from judge.submissions.pipeline import OnStep, Processor, Stage, UploadJob, UploadOutcome

GATE = f"judge.cli.submit:hosting={__name__}:hosting"


def hosting(*_: object) -> tuple[Processor, None]:
    """In place of `judge.cli.submit.hosting`."""
    return process, None


def process(job: UploadJob, tell: OnStep) -> UploadOutcome:
    upload, name, author = job.upload, job.name, job.author
    words = upload.read_bytes().split()
    word, rest = words[0].decode(), [word.decode() for word in words[1:]]
    tell(UploadStep(Stage.RECEIVED, True, f"{job.filename} of {author or 'nobody'}", 0.0))
    if word == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "hold":
        Path(rest[0] + ".held").touch()
        while not Path(rest[0]).exists():
            time.sleep(0.01)
    if word == "lock":
        with Path(rest[0]).open() as file:
            lock(file)
    if word == "host":
        raise HostError(f"{upload}: no Engine")
    log = "cc -o five\n\x1b[31mwarning\u202e: hostile\n"
    if word not in ("good", "bad", "hold", "lock"):
        tell(UploadStep(Stage.UNPACKED, False, "it is no archive", 0.1))
        return UploadOutcome((), None, "", log, None, "it is no archive")
    digest = upload.name
    program = job.agents / digest
    program.mkdir(exist_ok=True)
    manifest = AgentManifest(name=name or rest[-1], command=("./five",), author=author)
    is_good = word != "bad"
    tell(UploadStep(Stage.CHECKED, is_good, "1 finding", 0.2))
    finding = Finding(
        check="time",
        tried="a turn",
        grade=Grade.PASS if is_good else Grade.FAIL,
        evidence="" if is_good else "it took 9000 of 5000 ms \x1b[31m",
        fix="" if is_good else "think less",
    )
    return UploadOutcome(
        (),
        Agent(manifest, program, digest),
        "sha256:1234",
        log,
        check_report(manifest.name, digest, finding, job.policy.name, job.policy.clock.words),
        "" if is_good else "failed checks: time (see the report)",
    )


def check_report(
    agent: str, digest: str, finding: Finding, policy: str = "gomocup-standard", clock: str = ""
) -> CheckReport:
    """A report with one finding."""
    return CheckReport(
        judge="0",
        agent=agent,
        digest=digest,
        policy=policy,
        clock=clock,
        protocol="gomocup",
        box="docker-pipes",
        partner="house-instant",
        findings=(finding,),
    )
