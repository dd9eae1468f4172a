"""The set S of structures: the one package that knows where a number is stored."""
