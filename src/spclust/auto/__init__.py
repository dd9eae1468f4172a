"""What `"auto"` means: the scale of the features and the cut into clusters."""
