"""The paper: pure kernels named after its equations, and the story of Algorithm 1.

The formulas: `typicality` (Eq. 1-4), `footprint` (Eq. 8-13), `union` (Eq. 14-16).
The story: `online` (UpdateSPC), `merging` (Merge), `offline` (GetClustering and Eq. 17).
The memory: `structures` (the set S), `neighbours` (who is nearest to whom), `workspace`.
What makes it fast: `distances` and `lanes` (Eq. 2 for eight structures at a time), `point_union`
(Eq. 16 for one point), `factor` and `eigen` (small matrices), `compile`.
`stream` puts all of it behind one Python object; `docs/walkthrough.md` follows a point through it.
"""
