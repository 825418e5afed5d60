"""Published data, records and pages of a contest, which anyone can verify without the organiser."""
