"""The paper's algorithm: typicality, footprint, merge, prune, update, DBSCAN, assignment."""
