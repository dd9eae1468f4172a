"""Saved models: a container of logical arrays, atomic files, and validation of what is read.

`schema` lists what a file contains.
"""
