"""Checks of this host, and the images and house agents built on it."""
