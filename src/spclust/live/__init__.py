"""A service around a model that learns: a page that shows it, and HTTP to ask it."""
