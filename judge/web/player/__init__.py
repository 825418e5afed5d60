"""The process beside a service that needs the Engine: it checks submissions, plays, and exports."""
