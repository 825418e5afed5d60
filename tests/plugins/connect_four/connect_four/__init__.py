"""Connect Four, a game that the judge learns from this package."""
