"""Five-in-a-row games in the file formats of Piskvork, Gomocup, SGF, PGN and Renlib."""
