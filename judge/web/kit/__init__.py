"""What all HTTP services share: tokens and sessions, errors, limits, headers and connections."""
