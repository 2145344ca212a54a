"""The commands of `recall`, a module for those that belong together. What a command does is in the core."""
