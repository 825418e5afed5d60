"""The agents' persistent folders during a contest: their transfer, and who uses them when."""
