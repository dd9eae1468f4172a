"""Columns that are more than numbers: times, and what a name or its values give away."""
