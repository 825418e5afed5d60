"""A finished game in the formats of its field, and back."""
