"""Shared by the HTTP services: tokens, sessions, errors, limits, headers and connections."""
