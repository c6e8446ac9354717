"""The tasks, a module or a package each, and what they share."""
