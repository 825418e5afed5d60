"""Boxes that are containers of the Docker Engine."""
