"""Names of what a judge makes in a contest's folder and can make again. A backup leaves them out."""

from judge.broadcast.log import LOG_FILE

LOCK_FILE = "lock"
"""See `judge.contest.run_lock`."""

PAGES_FILE = "export-pages.ndjson"
"""See `judge.export.former_pages`."""

EXPORTS = "exports"
"""A directory per export by the organisers' pages, with `public` and `private`."""

PUBLISHED = "published"
"""Pages for a file server."""

KEEPER_DIRECTORY = "submissions/schedule"
"""Locked by the service that performs the scheduled actions."""

DERIVED = frozenset(
    {
        LOCK_FILE,
        LOG_FILE,
        PAGES_FILE,
        EXPORTS,
        PUBLISHED,
        KEEPER_DIRECTORY,
        "submissions/incoming",
        "practice/incoming",
    }
)
"""Paths in the contest's folder."""
