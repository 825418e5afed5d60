"""Pages for agents' authors: their submissions, and the private data of their games."""
