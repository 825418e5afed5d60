"""Go for judge: rules, the Go Text Protocol (GTP) and SGF. Engines may also play five in a row by GTP."""
