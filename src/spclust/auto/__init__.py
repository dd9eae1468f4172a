"""The automatic mode: fading masses, a fitted metric, and clusters by evidence."""
