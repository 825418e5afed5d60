"""One contest, read from its store or its export."""
