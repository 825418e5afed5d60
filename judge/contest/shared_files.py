"""Copies a contest's files into its database (PostgreSQL), so that another host can take over."""

from io import BytesIO

from judge.agents.store import AgentStore, pack_agent
from judge.base.errors import HostError, InputError
from judge.base.logs import get_logger
from judge.contest.plan import Planned
from judge.store.contests import Store
from judge.store.files import Files
from judge.store.types import FileKind
from judge.tournament.snapshot import Snapshot

log = get_logger()


def share_files(store: Store, planned: Planned, snapshot: Snapshot) -> None:
    """Synchronise database (PostgreSQL) and folder, so that another host can take over.

    Raises HostError if a database copy is damaged or the disk is full, InputError if an agent is in neither.
    """
    if not store.keeps_files:
        return
    name, files, agents = snapshot.name, Files(planned.files), AgentStore(planned.agents)
    kept = set(store.stored_files(name))
    here = {(FileKind.FILE, digest) for digest in files.digests()}
    here |= {(FileKind.AGENT, digest) for digest in agents.digests()}
    absent = sorted(kept - here)
    for kind, digest in absent:
        data = store.stored_file(name, kind, digest)
        try:
            if kind is FileKind.AGENT:
                agents.put_packed(digest, BytesIO(data))
            elif files.put(data) != digest:
                raise InputError("its SHA-256 differs from its name")
        except InputError as error:
            raise HostError(f"the store's copy of the {kind} {digest} is damaged: {error}") from None
    for digest in sorted(digest for kind, digest in here - kept if kind is FileKind.FILE):
        store.keep(name, FileKind.FILE, digest, files.get(digest))
    for digest in sorted({entry.seat.digest for entry in snapshot.entries}):
        if (FileKind.AGENT, digest) not in kept:
            store.keep(name, FileKind.AGENT, digest, pack_agent(agents.get(digest)))
    if absent:
        log.info("files copied from the store", files=len(absent))
