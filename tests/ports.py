"""Ports for servers that start later."""

import random
import socket
from contextlib import suppress

# Below those that the system gives to connections: nobody else gets one until the server starts.
RANGE = range(20_000, 32_000)


def free_port():
    """A port on which nothing listens, and that no connection is given meanwhile."""
    while True:
        port = random.SystemRandom().choice(RANGE)
        with suppress(OSError), socket.socket() as one:
            one.bind(("127.0.0.1", port))
            return port
