"""A contest's public service: pages, and events of running games."""
