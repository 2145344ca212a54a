"""Readers of the project's input files: they return records and problems, print nothing and stop at no first error."""
