"""The most stable groups of a tree of single linkage, by recursion over sets of structures."""

import numpy as np

SHARES = (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2)


def stable_groups(ends, height, count):
    """Group (k,) of each structure, from edges (2, k - 1), shortest first, and heights of nodes."""
    k, total = len(count), count.sum()
    members = [{i} for i in range(k)]
    parts = [None] * k
    for a, b in ends.T:
        of_a, of_b = (max(n for n, one in enumerate(members) if i in one) for i in (a, b))
        members.append(members[of_a] | members[of_b])
        parts.append((of_a, of_b))
    mass = [count[sorted(one)].sum() for one in members]
    root, found = len(members) - 1, []
    for share in SHARES:
        _, kept = best(root, height[root], parts, height, mass, max(share * total, 2.0), root)
        largest = max(kept, key=lambda one: mass[one[0]])
        score = (sum(one[1] for one in kept) - largest[1]) / total - 0.07 * np.log(len(kept))
        found.append((score if len(kept) > 1 else -np.inf, [members[node] for node, _ in kept]))
    highest = max(score for score, _ in found)
    if highest == -np.inf:
        return np.zeros(k, dtype=int)
    groups = next(g for score, g in found if score >= highest - 0.2 * abs(highest))
    labels = np.array([next((n for n, g in enumerate(groups) if i in g), -1) for i in range(k)])
    while (labels < 0).any():
        a, b = next((a, b) for a, b in ends.T if (labels[a] < 0) != (labels[b] < 0))
        labels[a] = labels[b] = max(labels[a], labels[b])
    return labels


def best(node, birth, parts, height, mass, least, root):
    """Sum of stabilities, and (node, stability), of the most stable groups of a node."""
    own, at = 0.0, node
    while True:
        age = max(np.log(birth / max(height[at], 1e-300)), 0.0)
        large = [part for part in parts[at] or () if mass[part] >= least]
        if len(large) != 1:
            own += mass[at] * age
            break
        own += (mass[at] - mass[large[0]]) * age
        at = large[0]
    if not large:
        return own, [(node, own)]
    below = [best(part, min(birth, height[at]), parts, height, mass, least, root) for part in large]
    of_parts = sum(one[0] for one in below)
    if node != root and own >= of_parts:
        return own, [(node, own)]
    return of_parts, below[0][1] + below[1][1]
