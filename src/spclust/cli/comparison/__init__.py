"""What `spclust compare` reads and prints."""
