"""`python -m spclust.cli` is the command `spclust`."""

from spclust.cli import app

app(prog_name="spclust")
