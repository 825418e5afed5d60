"""This machine: what it can enforce, and what is built on it: images and house agents."""
