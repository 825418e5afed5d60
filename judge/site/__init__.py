"""Renders the pages, tables and pictures of a contest as static HTML."""
