"""Verifies an export: records, tables, log and witnesses. Shares no code with `judge.publish.export`."""
