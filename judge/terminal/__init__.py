"""The display of games and contests in a terminal, and a person who plays there."""
