"""The agents' persistent folders during a contest: import, export and use."""
