"""Settings that all commands share: a file of options, and lines of the log."""
