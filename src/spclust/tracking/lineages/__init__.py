"""What has become of clusters between two models."""
