"""What people reach by HTTP: the intake of submissions, and pages to look at."""
