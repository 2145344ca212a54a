"""The assets: each reads its inputs, calls the core once, and returns a frame with metadata."""
