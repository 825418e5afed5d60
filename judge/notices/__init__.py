"""Notices to authors by webhook and e-mail. Receivers are not trusted: each has bounded time and memory, and
internal addresses are never called.
"""
