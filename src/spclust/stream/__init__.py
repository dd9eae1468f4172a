"""One stream, in either mode: learning, queries and combination with others."""
