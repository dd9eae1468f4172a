"""Cluster ids that last, and events: births, deaths, merges, splits and moves."""
