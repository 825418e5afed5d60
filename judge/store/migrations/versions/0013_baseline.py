"""The baseline: the schema of judge 0.1.0. New stores are created from `tables.py`."""

revision = "0013"
down_revision = None
