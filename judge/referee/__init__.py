"""One game: the referee, its clock, its table of blame, its transcript, and what a game is as a value."""
