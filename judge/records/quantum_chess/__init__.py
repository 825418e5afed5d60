"""Logs of Quantum Chess as the manager of the UCC contests wrote them, read and played again."""
