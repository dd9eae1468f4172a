"""The common drift by the oracle of the automatic mode: the window of arrivals is a list of points,
and the scatter within clusters a sum over structures. Modified in place: the state.
"""

import numpy as np
from scipy.stats import chi2

BY_CHANCE, PRECISE, FEWEST_WINDOWS, ALIKE, HEAVY = 1e-4, 0.3, 2, 10.0, 0.5
LEAP, IN_GROUPS, SLOW = 16.0, 0.5, 0.3
RIDGE, NOISE = 0.25, 1e-14


def follow_drift(state):
    """End the window if its slopes are precise enough, or tell nothing. True if it has ended."""
    now = state.drift_clock
    total = sum(s.mass for s in state.S)
    left = total - sum(s.mass for s in state.S if s.group is None)
    state.note(left, IN_GROUPS * total)
    if left < IN_GROUPS * total:
        state.began, state.window = now, []
        state.velocity, state.drift = np.zeros(state.d), np.zeros(state.d)
        state.agreeing, state.evidence = 0, 0.0
        return True
    slopes, spreads = slopes_of(state)
    total = sum(spreads)
    needed = (state.half_life / np.log(2.0) / PRECISE) ** 2
    state.note(total, needed)
    if total < needed:
        return False
    slow = is_slow(state, slopes, spreads, now - state.began)
    length, state.began, state.window = now - state.began, now, []
    velocity = common_velocity(state, slopes, spreads, slow, length)
    for s in state.S:
        s.mean = s.mean + min(now - s.time, length) * (velocity - state.velocity)
    state.velocity = velocity
    return True


def slopes_of(state):
    """Slopes of places on times, and sums of squared offsets in time, of all groups."""
    slopes, spreads = [], []
    for group in {group for group, _, _ in state.window}:
        t = np.array([time for g, time, _ in state.window if g == group])
        y = np.array([place for g, _, place in state.window if g == group])
        spread = np.sum((t - t.mean()) ** 2)
        if spread > 0.0:
            slopes.append((t - t.mean()) @ (y - y.mean(axis=0)) / spread)
            spreads.append(spread)
    return slopes, spreads


def is_slow(state, slopes, spreads, length):
    """Features in which points of a cluster overlap from one point of the stream to the next."""
    around, points, used = np.zeros(state.d), 0, iter(slopes)
    for group in {group for group, _, _ in state.window}:
        t = np.array([time for g, time, _ in state.window if g == group])
        y = np.array([place for g, _, place in state.window if g == group])
        if np.sum((t - t.mean()) ** 2) > 0.0:
            fitted = y.mean(axis=0) + np.outer(t - t.mean(), next(used))
            around += np.sum((y - fitted) ** 2, axis=0)
            points += len(t)
    velocity = state.velocity + np.average(slopes, axis=0, weights=spreads)
    deviation = np.sqrt(around / points)
    for one, other in zip(np.abs(velocity) * length / points, SLOW * deviation, strict=True):
        state.note(one, other)
    return (np.abs(velocity) * length / points <= SLOW * deviation) & (deviation > 0.0)


def common_velocity(state, slopes, spreads, slow, length):
    known, S = scatter_within(state, slow)
    state.drift = np.where(known, state.drift, 0.0)
    if not known.any():
        state.agreeing, state.evidence = 0, 0.0
        return np.zeros(state.d)
    square = lambda v: float(v[known] @ np.linalg.solve(S, v[known]))  # noqa: E731
    own = [np.where(known, state.velocity + slope, 0.0) for slope in slopes]
    total = sum(spreads)
    found = sum(spread * v for spread, v in zip(spreads, own, strict=True)) / total
    limit = chi2.isf(BY_CHANCE, known.sum())
    state.evidence *= 0.5 ** (length / state.half_life)
    weight = total * state.evidence / (total + state.evidence)
    state.note(weight * square(found - state.drift), limit)
    if weight * square(found - state.drift) > limit:
        state.agreeing, state.evidence = 0, 0.0
    elif state.agreeing == 1:  # the drift began within that window
        state.evidence = 0.0
    state.agreeing += 1
    share = total / (total + state.evidence)
    state.evidence += total
    state.drift = (1.0 - share) * state.drift + share * found
    if state.agreeing < FEWEST_WINDOWS and not state.velocity.any():
        return np.zeros(state.d)
    squares = [spread * square(v - found) for spread, v in zip(spreads, own, strict=True)]
    free = int(known.sum()) * (len(own) - 1)
    state.note(state.evidence * square(state.drift), limit)
    moves = state.evidence * square(state.drift) > limit
    if free and sum(squares) > chi2.isf(BY_CHANCE, free):
        shared, apart = total * square(state.drift), sum(squares) - free
        state.note(shared, ALIKE * apart)
        moves &= ALIKE * apart < shared
    if free:
        state.note(sum(squares), chi2.isf(BY_CHANCE, free))
    return state.drift if moves else np.zeros(state.d)


def scatter_within(state, slow):
    """Features that vary within clusters, and the covariance within clusters in these."""
    enough = HEAVY * np.mean([s.mass for s in state.S])
    for s in state.S:
        state.note(s.mass, enough)
    heavy = [s for s in state.S if s.mass >= enough and s.group is not None]
    total, scatter = sum(s.mass for s in heavy), np.zeros((state.d, state.d))
    for group in {s.group for s in heavy}:
        members = [s for s in heavy if s.group == group]
        centre = np.average([s.mean for s in members], axis=0, weights=[s.mass for s in members])
        for s in members:
            offset = s.mean - centre
            scatter += s.scatter + s.mass * np.outer(offset, offset)
    width = np.sqrt(np.diag(scatter) / total)
    largest = np.max(np.abs([s.mean for s in heavy]), axis=0)
    known = slow & (width > NOISE * largest)
    state.sure &= bool(np.all((width == 0.0) | (width > 1e-6 * largest)))  # or digits are lost
    S = state.kept(scatter / total) + RIDGE**2 * np.diag(width**2)
    return known, S[np.ix_(known, known)]
