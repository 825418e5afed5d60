"""Evidence that the host, and not an agent, was slow: stalls, core use and interference."""
