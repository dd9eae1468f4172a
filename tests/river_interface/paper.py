"""River's models with the paper's fixed scale and eps as defaults, for tests of that mode."""

import spclust.river


class SPC(spclust.river.SPC):
    def __init__(
        self,
        n_structures=30,
        *,
        m=1.5,
        gamma=0.0,
        beta=0.0,
        w_min=0.01,
        nlt_max=3.0,
        eps=0.95,
        min_samples=1,
        scale=1.0,
        covariance_type="auto",
        max_rank=None,
    ):
        super().__init__(
            n_structures,
            m=m,
            gamma=gamma,
            beta=beta,
            w_min=w_min,
            nlt_max=nlt_max,
            eps=eps,
            min_samples=min_samples,
            scale=scale,
            covariance_type=covariance_type,
            max_rank=max_rank,
        )


class SPCAnomalyDetector(spclust.river.SPCAnomalyDetector):
    def __init__(self, n_structures=30, *, scale=1.0):
        super().__init__(n_structures, scale=scale)
