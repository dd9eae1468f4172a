"""SPC with the paper's fixed scale and eps as defaults, for tests of what the paper says."""

import spclust


class SPC(spclust.SPC):
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
        track_every=None,
        outlier_nlt=None,
        n_jobs=None,
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
            track_every=track_every,
            outlier_nlt=outlier_nlt,
            n_jobs=n_jobs,
        )
