"""Agents: their manifest, files and kept folders."""
