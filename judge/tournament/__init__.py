"""Tournament arithmetic without I/O: formats, pairings, points, standings, schedule and seeds."""
