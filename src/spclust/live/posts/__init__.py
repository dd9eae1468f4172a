"""What is posted: bodies, the journal on the disk, and the way to the learner."""
