"""Random damage to what the package reads, to find crashes; not part of the tests."""
