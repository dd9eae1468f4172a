"""Roofline: time of a point against the time of its operations and bytes at peak speed.

`python -m benchmarks.roofline` measures the peak of one core (fused multiply-adds in registers;
reads from each cache), counts the operations and bytes that a point needs, and compares them with
the measured time of a point. `docs/explanation/speed.md` explains the table.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from numba import njit
from rich.console import Console
from rich.table import Table

from benchmarks import stored
from benchmarks.streams import STREAMS
from spclust import SPC
from spclust.numerics.eight import load, same, smallest_of
from spclust.numerics.memory import aligned
from spclust.stream.stream import Stream

N = 50
ROUNDS = 20
MULTIPLIES = 200_000


@njit(fastmath={"contract"})
def multiply_add(times: int, a: float) -> float:
    """Eight independent chains of fused multiply-adds, eight numbers wide."""
    y = z = u = v = w = p = q = r = same(1.0)
    for _ in range(times):
        y, z, u, v = y * a + 1.0, z * a + 1.0, u * a + 1.0, v * a + 1.0
        w, p, q, r = w * a + 1.0, p * a + 1.0, q * a + 1.0, r * a + 1.0
    return float(smallest_of(y + z + u + v + w + p + q + r))


@njit(fastmath={"contract"})
def read(memory: np.ndarray, times: int) -> float:
    """Read all of `memory` several times."""
    y = z = u = v = same(0.0)
    for _ in range(times):
        for i in range(0, memory.size, 32):
            y += load(memory, i)
            z += load(memory, i + 8)
            u += load(memory, i + 16)
            v += load(memory, i + 24)
    return float(smallest_of(y + z + u + v))


def seconds(work: Callable[[], object]) -> float:
    """Best of several rounds; the first warms up."""
    best = np.inf
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def peaks() -> tuple[float, dict[str, float]]:
    """Floating-point operations, and bytes read from L1 and L2, per second."""
    flops = MULTIPLIES * 8 * 8 * 2 / seconds(lambda: multiply_add(MULTIPLIES, 0.5))
    bandwidth = {}
    for cache, kilobytes in (("L1", 16), ("L2", 512)):
        memory = aligned(kilobytes * 128)
        memory[:] = 0.0
        times = 65_536 // kilobytes

        def work(memory: np.ndarray = memory, times: int = times) -> object:
            return read(memory, times)

        bandwidth[cache] = memory.nbytes * times / seconds(work)
    return flops, bandwidth


def needs(d: int, grown: int) -> tuple[float, float]:
    """Operations and bytes of a point: its distances and those of one changed structure, both ways.

    The rest (odds, weights, pairs, one union) is counted as 40 operations a structure.
    """
    factors = (2 * grown + N) * d * (d + 1)
    offsets = 2 * N * 9 * d
    read_bytes = 8.0 * (grown * d * (d + 1) / 2 + 4 * N * d + 14 * N)
    return factors + offsets + 40.0 * N, read_bytes


def learnt(name: str) -> tuple[float, int]:
    """Seconds a point after 50,000 points, and the number of structures that had grown."""
    blocks = [STREAMS[name].block(index) for index in range(9)]
    model = SPC(N, scale=1.0, eps=0.95)  # as in the other benchmarks
    for block in blocks[:5]:
        model.partial_fit(block)
    times = []
    for batch in blocks[5:]:
        started = time.perf_counter()
        model.partial_fit(batch)
        times.append((time.perf_counter() - started) / len(batch))
    stream = model._stream
    assert isinstance(stream, Stream)
    return min(times), stream.structures.grown


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.roofline", description=__doc__)
    stored.add_option(parser)
    options = parser.parse_args()
    flops, bandwidth = peaks()
    figures = {"peak/GFLOP/s": flops / 1e9}
    figures |= {f"peak/{cache}, GB/s": rate / 1e9 for cache, rate in bandwidth.items()}
    console = Console()
    console.print(
        f"One core, at its best: {flops / 1e9:.0f} GFLOP/s, "
        + ", ".join(f"{cache} {rate / 1e9:.0f} GB/s" for cache, rate in bandwidth.items())
    )
    table = Table(
        "stream", "grown", "kflop", "at peak, us", "kB", "from", "at peak, us", "takes, us"
    )
    for name, stream in STREAMS.items():
        taken, grown = learnt(name)
        operations, bytes_read = needs(stream.dimensions, grown)
        cache = "L1" if bytes_read < 24_000 else "L2"
        row = {
            "grown": grown,
            "kflop": operations / 1e3,
            "operations, us": operations / flops * 1e6,
            "kB": bytes_read / 1e3,
            "reading, us": bytes_read / bandwidth[cache] * 1e6,
            "us": taken * 1e6,
        }
        figures |= {f"{name}/{what}": value for what, value in row.items()}
        cells = [f"{value:.3g}" for value in row.values()]
        table.add_row(name, *cells[:4], cache, *cells[4:])
    console.print(table)
    if options.store:
        stored.store("roofline", figures, options)


if __name__ == "__main__":
    main()
