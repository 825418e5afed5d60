"""Orders of organisers."""
