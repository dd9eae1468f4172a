"""What a service imports, and loads: for the process that services are forked from."""

from contextlib import suppress

from tests.command import imported


def load():
    imported.load()
    with suppress(ModuleNotFoundError):  # where no server is installed, tests are skipped
        import spclust.cli.serve_run  # noqa: F401
