"""What the oracle of the automatic mode does from time to time: `renew` removes forgotten
structures, fits the metric, measures reaches, assigns structures to clusters, and sets when it is
due again. The other functions follow in the order of these steps. Each may modify the state that
it is given, in place: even one that returns a value notes if that was not sure.
"""

import numpy as np

from tests.reference.automatic_drift import follow_drift
from tests.reference.automatic_state import TIE
from tests.reference.evidence import clusters_by_evidence, partition
from tests.reference.rounded import in_one_place, variances_of_rounding

GROWTH = 1.2
RIDGE, WIDEST, HEAVY, FAR = 0.25, 0.1, 0.5, 8.0
FADED, BY_CHANCE, BOTH = 0.25, 0.02, 0.4
OFTEN, MEMORY, FULL, CALMEST, SAME, NEARLY = 3, 0.5, 0.5, 32, 0.95, 0.1
MANY_STRANGE, MANY_NEAR, STRANGE, FEWEST = 0.2, 0.8, 4.0, 100
NOISE = 1e-14  # of the largest coordinate: narrower features are constant


def renew(state):
    n = state.n_structures
    changed = state.strange > MANY_STRANGE * n or state.near > MANY_NEAR * n
    fits = changed or state.seen >= state.metric_due
    state.near = state.strange = 0
    if state.half_life is not None and len(state.S) == n:
        remove_forgotten(state)
    if fits:
        ended = state.half_life is not None and follow_drift(state)
        before = np.diag(state.A)
        fit_metric(state)
        find_reaches(state)
        shift = float(np.mean(np.abs(np.log(np.diag(state.A) / before))))
        if state.half_life is not None and len(state.S) > 2:
            assign_clusters(state, shift)
        for s in state.S if ended else []:
            s.group = s.cluster
        if state.recent:
            state.median = 0.99 * np.median(state.recent[-max(n, FEWEST) :])
            state.rare = 1.01 * usual_distance(state)
        set_metric_due(state)
    state.due = min(state.seen + n, state.metric_due)


def remove_forgotten(state):
    S, gone = state.S, []
    for s in S:
        state.note(s.mass, FADED)
        silent = np.log(max(s.mass, 1.0) / BY_CHANCE)
        both = BOTH * silent
        state.note(s.missed, silent)
        goes = s.mass < FADED or s.missed > silent
        if not goes:
            state.note(s.missed, both)
        if not goes and len(S) > 1 and s.missed > both:
            goes = partner_is_silent(state, s, both)
        gone.append(goes)
    if all(gone):
        heaviest = int(np.argmax([s.mass for s in S]))
        for s in S:
            if s is not S[heaviest]:
                state.note(s.mass, S[heaviest].mass)
        gone[heaviest] = False
    state.removed += sum(s.count for s, goes in zip(S, gone, strict=True) if goes)
    state.S = [s for s, goes in zip(S, gone, strict=True) if not goes]


def partner_is_silent(state, s, both):
    """True if the structure that s would be merged with missed more points than `both`, too."""
    others = [o for o in state.S if o is not s]
    partner = min(others, key=lambda o: state.cost(s, o))
    state.note(partner.missed, both)
    silent = partner.missed > both
    for other in others:
        if (other.missed > both) != silent:
            ours, theirs = state.cost(s, partner), state.cost(s, other)
            state.note_costs((ours, s, partner), (theirs, s, other), state.rounding())
    return silent


def fit_metric(state):
    if not state.fitted:
        return
    state.A, state.width = metric_of(state, state.S)
    again, width = metric_of(state, state.S[::-1])  # structures that tie, in another order
    state.sure &= np.allclose(again, state.A, rtol=TIE, atol=TIE * np.abs(state.A).max())
    state.sure &= np.allclose(width, state.width, rtol=TIE, atol=0.0)
    largest = np.max(np.abs([s.mean for s in state.S]), axis=0)
    state.sure &= np.all((width == 0.0) | (width > 1e-6 * largest))  # or digits are lost


def metric_of(state, S):
    """The metric A, and the width of each feature."""
    width = np.array([width_of(state, S, c) for c in range(state.d)])
    unit = np.where(width > 0.0, width, 1.0)
    breadths = [np.sum(np.diag(s.scatter) / unit**2) / s.mass for s in S]
    pooled, mass, before = np.zeros((state.d, state.d)), 0.0, 0.0
    limit = (1.0 - WIDEST) * sum(s.mass for s in S)
    for i in np.argsort(breadths, kind="stable"):
        if breadths[i] > 0.0:
            state.note(before, limit)
        if before < limit:
            pooled, mass = pooled + S[i].scatter, mass + S[i].mass
        before += S[i].mass
    W = pooled / mass / np.outer(unit, unit) + RIDGE**2 * np.eye(state.d)
    if state.diagonal:
        W = np.diag(np.diag(W))
    return np.linalg.inv(np.linalg.cholesky(W)) / unit, width


def width_of(state, S, c):
    """Standard deviation in a feature, in which no distance from the median counts as far."""
    total = sum(s.mass for s in S)
    middle = median_of(state, S, c, total)
    enough = HEAVY * total / len(S)
    if not state.exact:
        for s in S:
            state.note(s.mass, enough)
    usual = mean_distance([s for s in S if s.mass >= enough], c, middle)
    far = FAR * (usual if usual > 0.0 else mean_distance(S, c, middle))
    squares = 0.0
    for s in S:
        within = s.scatter[c, c] / s.mass
        squares += s.mass * min(abs(s.mean[c] - middle), far) ** 2
        squares += s.mass * (min(within, far**2) if far > 0.0 else within)
    width = np.sqrt(squares / total)
    return width if width > NOISE * max(abs(s.mean[c]) for s in S) else 0.0


def median_of(state, S, c, total):
    """The first mean, in order, up to which there is half of the mass."""
    upto = 0.0
    for s in sorted(S, key=lambda s: s.mean[c]):
        upto += s.mass
        if not state.exact:
            state.note(upto, 0.5 * total)
        if upto >= 0.5 * total:
            return s.mean[c]
    raise AssertionError("no structure has half of the mass below it")


def mean_distance(S, c, middle):
    """Mean distance of structures from a place, by mass."""
    return sum(s.mass * abs(s.mean[c] - middle) for s in S) / sum(s.mass for s in S)


def find_reaches(state):
    enough, k = state.enough(sum(s.mass for s in state.S)), len(state.S)
    for s in state.S:
        others = sorted((state.square(s, o), o.mass) for o in state.S)
        mass, s.reach = 0.0, 0.0
        for square, more in others:
            if not state.exact and abs(k * mass - enough) <= TIE * enough:
                s.reach = np.nan
            elif k * mass < enough:
                s.reach = square
            mass += more


def assign_clusters(state, shift):
    """Assign structures to clusters, and note if these, and the metric, are nearly as before."""
    labels = clusters_of(state)
    state.note(shift, NEARLY)
    at_rest = not state.velocity.any() and state.agreeing != 1
    calm = shift < NEARLY and is_calm(state, labels) and at_rest
    state.calm = min(2 * state.calm, CALMEST) if calm else 1
    strays = max(labels) + 1
    for s, label in zip(state.S, labels, strict=True):
        s.cluster = label if label >= 0 else strays
    state.readings += 1


def clusters_of(state):
    """Cluster of each structure, -1 for strays; not sure if noise or another order matters.

    Lengths of edges tie where they are the reach of a structure: then the order decides.
    """
    z = np.array([state.A @ s.mean for s in state.S])
    z -= z.mean(axis=0)
    mass = np.array([s.mass for s in state.S])
    rounding, of = np.diag(variances_of_rounding(state)), np.arange(len(z))
    C = np.array(
        [state.A @ (state.kept(s.scatter) / s.mass + rounding) @ state.A.T for s in state.S]
    )
    if rounding.any():
        z, mass, C, of = in_one_place(z, mass, C)
    how = {"fades": state.half_life is not None, "weighted": state.weighted}
    labels = clusters_by_evidence(z, mass, C, **how)
    rng = np.random.default_rng(0)
    for _ in range(16 if state.sure else 0):  # what is not sure is not compared
        order = rng.permutation(len(z))
        noise = 1.0 + TIE * rng.uniform(-1.0, 1.0, size=z.shape)
        again = clusters_by_evidence((z * noise)[order], mass[order], C[order], **how)
        state.sure &= partition(again, order) == partition(labels, range(len(z)))
        if not state.sure:
            break
    return labels[of]


def is_calm(state, labels):
    """True if nearly all structures, by mass, are in the same clusters as before."""
    shared = {}
    for s, label in zip(state.S, labels, strict=True):
        shared[s.cluster, label] = shared.get((s.cluster, label), 0.0) + s.mass
    kept = []
    for side in (0, 1):
        largest = {}
        for pair, mass in shared.items():
            largest[pair[side]] = max(largest.get(pair[side], 0.0), mass)
        kept.append(sum(largest.values()))
    enough = SAME * sum(s.mass for s in state.S)
    state.note(min(kept), enough)
    return min(kept) >= enough


def usual_distance(state):
    """Quantile of 95 %, without strange ones, of the last distances from home."""
    recent = np.array(state.recent[-1000:])
    state.sure &= not np.isnan(recent).any()
    middle, upper, rare = np.quantile(recent, (0.5, 0.8, 0.95))
    if 0.0 < middle * (1.0 + 1e-9) < upper:
        limit = middle * (upper / middle) ** STRANGE
        if rare > limit:
            rare = np.quantile(recent[recent <= limit], 0.95)
    return max(rare, 1e-300)


def set_metric_due(state):
    n = state.n_structures
    if state.seen < n:
        state.metric_due = min(2 * state.seen, n)
    elif state.half_life is None:
        state.metric_due = max(state.seen + n, int(GROWTH * state.seen))
    else:
        remembered = MEMORY * sum(s.mass for s in state.S)
        state.note(remembered, round(remembered))
        wait = max(OFTEN * n, int(remembered))
        later = state.seen + state.calm * wait
        mass = sum(s.mass for s in state.S)
        state.note(mass, FULL * state.seen)
        if mass > FULL * state.seen:
            later = min(later, int(GROWTH * state.seen))
        state.metric_due = max(state.seen + wait, later)
