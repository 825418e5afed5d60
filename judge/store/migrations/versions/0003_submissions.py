"""What comes in: submissions, the steps and the journal of each, and the tokens of authors."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the tables of the register."""
    op.create_table(
        "submissions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("contest", sa.String(128), nullable=False, index=True),
        sa.Column("author", sa.String(128), nullable=False),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("version", sa.Integer),
        sa.Column("filename", sa.Text, nullable=False),
        sa.Column("upload", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("received_at", sa.String(32), nullable=False),
        sa.Column("state", sa.String(16), nullable=False, index=True),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("due_at", sa.String(32)),
        sa.Column("worker", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64)),
        sa.Column("agent", sa.Text),
        sa.Column("log", sa.String(64)),
        sa.Column("report", sa.String(64)),
    )
    op.create_table(
        "submission_steps",
        sa.Column("submission", sa.BigInteger, sa.ForeignKey("submissions.id"), primary_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("stage", sa.String(32), nullable=False),
        sa.Column("ok", sa.Boolean, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
    )
    op.create_table(
        "submission_journal",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("submission", sa.BigInteger, sa.ForeignKey("submissions.id"), nullable=False, index=True),
        sa.Column("at", sa.String(32), nullable=False),
        sa.Column("who", sa.String(128), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("why", sa.Text, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("contest", sa.String(128), nullable=False, index=True),
        sa.Column("author", sa.String(128), nullable=False),
        sa.Column("made_at", sa.String(32), nullable=False),
        sa.Column("made_by", sa.String(128), nullable=False),
        sa.Column("revoked_at", sa.String(32)),
        sa.Column("revoked_by", sa.String(128)),
    )
