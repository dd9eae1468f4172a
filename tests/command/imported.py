"""What most commands import, and load: for the process that they are forked from."""

import numpy as np
from typer.testing import CliRunner

from spclust import SPC
from spclust.cli import app


def load():
    CliRunner().invoke(app, ["cluster", "nothing.csv"])  # imports everything before it fails
    model = SPC(5).fit(np.eye(50, 2))
    model.labels_, model.describe()
