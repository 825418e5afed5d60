"""Verifies an export: records, tables, transparency log and witnesses. Shares no code with `judge.export`."""
