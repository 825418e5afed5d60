"""Quantum chess: the board with its open pieces, the words for what is asked and told, and the game."""

from judge.games.quantum_chess.game import ContradictionError, QuantumChess

__all__ = ["ContradictionError", "QuantumChess"]
