"""The paper's algorithm: typicality, footprint, merge, prune, update, clustering, assignment."""
