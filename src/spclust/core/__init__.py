"""The paper: pure kernels named after its equations, and the story of Algorithm 1.

The formulas: `typicality` (Eq. 1-4), `footprint` (Eq. 8-13), `union` (Eq. 14-16).
The story: `online` (UpdateSPC), `pruning`, `merging` (Merge), `offline` (GetClustering, Eq. 17).
The memory: `structures` (the set S), `slots` (who sits where), `neighbours` (who is nearest to
whom), `workspace` (scratch), `parts` (arrays within an array).
What makes it fast: `lanes` (eight numbers at a time), `distances` (Eq. 2) and `powers` (Eq. 1) with
them, `point_union` (Eq. 16 for one point), `plane` (Eq. 16 in two dimensions), `fixed` (a
few features, written out), `factor` and `eigen` (small matrices), `compile`.
`stream` puts all of it behind one Python object; `docs/walkthrough.md` follows a point through it,
and `docs/speed.md` says where its time goes.
"""
