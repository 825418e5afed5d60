"""Tournament arithmetic without input or output: formats, pairings, points, standings, schedule and seeds."""
