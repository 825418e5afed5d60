"""Opens the store of an untrusted folder: an SQLite file in it, or what callers name."""

from collections.abc import Collection

from judge.base.errors import InputError
from judge.contest.plan import Planned
from judge.store.sqlite_files import refuse_other_tables


def foreign(planned: Planned, named: Collection[str], instead: str = "") -> Planned:
    """`named`: URLs that may be opened. `instead`: opened for any other database. Raises InputError."""
    if planned.keeps_own_database:
        if planned.database_file is not None and not planned.has_no_store:
            refuse_other_tables(planned.database_file)
        return planned
    if instead:
        return planned.with_store(instead)
    if planned.written_store_url in named:
        return planned.with_store(planned.written_store_url)
    raise InputError(
        f"{planned.path}: store names a database outside its folder, which is opened only if you name it: give --store "
        "URL where the command has that option, or use an export of the contest"
    )
