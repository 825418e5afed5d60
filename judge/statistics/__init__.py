"""Statistics of results: ratings, sequential tests, and their assumptions."""
