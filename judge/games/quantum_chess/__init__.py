"""Quantum Chess: board, requests and events, game."""

from judge.games.quantum_chess.game import ContradictionError, QuantumChess

__all__ = ["ContradictionError", "QuantumChess"]
