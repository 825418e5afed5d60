"""Authors' pages: their submissions and their games' private data."""
