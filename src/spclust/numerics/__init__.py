"""Vectors of eight numbers, powers and small linear algebra."""
