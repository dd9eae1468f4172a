"""Where the rows of a run come from."""
