"""The offline phase of the automatic mode: which structures make up a cluster, and its label.

Begin with `evidence.clusters_of`. `cut` proposes groups of structures; `judgement` decides whether
two of them are separate, by `border` and `separation`. `basins`, halves (`separation`), `gaps` and
`parts` (by `ward`) divide what is left. `told_count` has the rules if the number of clusters is
given, `lasting_labels` numbers them, and `bootstrap` tells how certain they are.
"""
