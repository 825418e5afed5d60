"""Submissions by HTTP: a token an author, every number bounded, nothing done here but taking in and telling."""
