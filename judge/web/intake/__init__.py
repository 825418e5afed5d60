"""The HTTP API for submissions. Processing happens elsewhere."""
