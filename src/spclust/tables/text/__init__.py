"""Text: records of CSV, and files that grow and are rotated."""
