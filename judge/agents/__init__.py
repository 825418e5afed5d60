"""Agents: what a directory or program must say to be one, kept by its digest, and the folders it keeps."""
