"""River's clusterer with the paper's fixed scale and eps, for tests of that mode."""

from functools import partial

import spclust.river

SPC = partial(spclust.river.SPC, n_structures=30, eps=0.95, scale=1.0)
