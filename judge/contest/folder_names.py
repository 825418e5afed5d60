"""Names in a contest's folder."""

from judge.broadcast.log import LOG_FILE

LOCK_FILE = "lock"

EXPORTS = "exports"
"""With `public` and `private` per export."""

PUBLISHED = "published"

KEEPER_DIRECTORY = "submissions/schedule"

DERIVED = frozenset(
    {
        LOCK_FILE,
        LOG_FILE,
        EXPORTS,
        PUBLISHED,
        KEEPER_DIRECTORY,
        "submissions/incoming",
        "practice/incoming",
    }
)
"""Left out of backups, because the judge makes them again."""
