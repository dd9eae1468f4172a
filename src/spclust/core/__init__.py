"""The paper: pure kernels named after its equations, and the story of Algorithm 1.

Read in this order: `typicality` (Eq. 1-4), `footprint` (Eq. 8-13), `union` (Eq. 14-16),
`structures` (the set S and its memory), `online` (Algorithm 1, UpdateSPC and Merge), `offline`
(Algorithm 1, GetClustering, and Eq. 17), `stream` (all of it behind one Python object).
"""
