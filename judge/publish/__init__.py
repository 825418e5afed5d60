"""A contest's published data, records and pages, which anyone can verify without the organiser."""
