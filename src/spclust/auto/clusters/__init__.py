"""The offline phase of the automatic mode: which structures make up a cluster, and its label."""
