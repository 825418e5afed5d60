"""What is stored of a game: its policy, spec and transcript."""
