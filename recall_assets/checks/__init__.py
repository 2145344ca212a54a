"""The asset checks: what was expected, what was seen, and who is to blame, on every path."""
