"""Files one after the other: those that are named, and those that a log is rotated through."""
