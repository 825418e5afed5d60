"""Notices to authors by webhook and e-mail. Receivers are strangers: each costs bounded time and memory, and no inside
address is called."""
