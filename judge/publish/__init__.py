"""What a contest shows the world: data, records and pages that anybody can check without asking the organiser."""
