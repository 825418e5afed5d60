"""Logs of Stratego as the managers of the UCC contests wrote them, read and played again."""
