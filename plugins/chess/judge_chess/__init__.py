"""Chess and Chess960 for judge. python-chess implements the rules."""
