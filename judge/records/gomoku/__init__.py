"""A game of five in a row in the file formats of its field, read and written."""
