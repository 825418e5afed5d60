"""The baseline: the schema of judge 0.1.0 up to this revision. A new store gets the tables of `tables.py` instead."""

revision = "0013"
down_revision = None
