"""What the page shows: a model at one moment, and what happened lately."""
