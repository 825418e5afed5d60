"""Boxes without a container: a process of this host, or a person."""
