"""Descriptions and diagnoses of a model."""
