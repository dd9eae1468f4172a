"""What most commands import, and load: for the process that they are forked from."""

import numpy as np
import pyarrow.pandas_compat  # noqa: F401
import pydantic  # noqa: F401
import typer._adapters  # noqa: F401

import spclust.cli.cluster_run  # noqa: F401
from spclust import SPC

model = SPC(5).fit(np.eye(50, 2))
model.labels_, model.describe()
