"""The first schema. New stores are created from `tables.py`."""

revision = "0001"
down_revision = None
