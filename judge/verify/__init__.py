"""Verifies an export: records, tables, transparency log and witnesses. It shares no code with `judge.export`."""
