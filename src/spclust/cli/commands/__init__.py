"""The commands of `spclust`."""
