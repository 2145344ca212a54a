"""Getting ranked results for cases: searching, ordering, parent expansion, and the frame of a run."""
