"""Opens the store of another contest's folder, whose files may be of other people.

store in the other contest.toml                    who allows it
a plain SQLite file in that folder                 always opened, if it has judge's tables only
any other database                                 opened if the caller names the same URL
any other database, and the caller names another   the caller's is opened instead
"""

from collections.abc import Collection

from judge.base.errors import InputError
from judge.contest.plan import Planned
from judge.store.contests import Store
from judge.store.damage import refuse_other_tables


def foreign(planned: Planned, named: Collection[str], instead: str = "") -> Planned:
    """The other contest with a store that may be opened; `named`: URLs of the caller, `instead`: its --store.

    Raises InputError if the file names a database that the caller does not.
    """
    if planned.keeps_own_database:
        if planned.database_file is not None and not planned.has_no_store:
            refuse_other_tables(planned.database_file)
        return planned
    if instead:
        return planned.with_store(instead)
    if planned.store_url in named:
        return planned
    raise InputError(
        f"{planned.path}: store names a database outside its folder, which is opened only if you name it: give --store "
        "URL where the command has that option, or use an export of the contest"
    )


def open_foreign(planned: Planned, named: Collection[str], instead: str = "") -> Store:
    """See `foreign`."""
    return Store(foreign(planned, named, instead).store_url)
