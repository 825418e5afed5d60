"""Evidence that the host, and not an agent, was slow: stalls and core use."""
