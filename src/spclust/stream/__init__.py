"""One stream: learning, queries and combination with others."""
