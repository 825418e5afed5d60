"""The organisers' pages: what a contest does and why, and orders to it, which happen once and with a reason."""
