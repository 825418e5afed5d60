"""The copies of a contest's files that its database has: a host that takes the contest over begins with them.

Each record and each state of a folder is in the database before the row that names it, and the agents are there before
the contest is created. So PostgreSQL alone is what must outlive the contest's host.
"""

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


def share_files(store: Store, planned: Planned, snapshot: Snapshot) -> int:
    """Bring what the database has of a contest's files into its folder, and the other way round; returns how many came
    into the folder.

    Raises HostError if a copy in the database is damaged, or if the disk is full; InputError if an agent is in neither.
    """
    if not store.keeps_files:
        return 0
    name, files, agents = snapshot.name, Files(planned.files), AgentStore(planned.agents)
    kept = set(store.kept_files(name))
    here = {(FileKind.FILE, digest) for digest in files.digests()}
    here |= {(FileKind.AGENT, digest) for digest in agents.digests()}
    brought = sorted(kept - here)
    for kind, digest in brought:
        data = store.kept_file(name, kind, digest)
        try:
            if kind is FileKind.AGENT:
                agents.put_packed(digest, BytesIO(data))
            elif files.put(data) != digest:
                raise InputError("its contents are not those of its name")
        except InputError as error:
            raise HostError(f"the store's copy of the {kind} {digest} is damaged: {error}") from None
    for digest in sorted(digest for kind, digest in here - kept if kind is FileKind.FILE):
        store.keep(name, FileKind.FILE, digest, files.get(digest))
    for digest in sorted({entry.seat.digest for entry in snapshot.entries}):
        if (FileKind.AGENT, digest) not in kept:
            store.keep(name, FileKind.AGENT, digest, pack_agent(agents.get(digest)))
    if brought:
        log.info("files brought from the store", files=len(brought))
    return len(brought)
