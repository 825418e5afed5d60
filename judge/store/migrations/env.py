"""Runs alembic's migrations on the given connection, inside its transaction."""

from alembic import context

from judge.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite can change a table only by copying it.
    render_as_batch=True,
)
context.run_migrations()
