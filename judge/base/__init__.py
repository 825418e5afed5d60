"""Small modules that every other package may use: errors, text, parsing, files, locks, logs and worker processes."""
