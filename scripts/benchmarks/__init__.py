"""What the judge costs on this machine: run by ./scripts/bench."""
