"""Kinds of covariances: distance, union with a point and general union of each."""
