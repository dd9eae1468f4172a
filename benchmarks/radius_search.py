"""Search for radii with which competitors hold as many micro-clusters as SPC holds structures.

`python -m benchmarks.radius_search [NAME ...]` searches for each competitor that has a radius, on
the first points of each stream, and stores the results in `radii.json`. Needed only after a change
of streams, competitors or their versions.
"""

import json
import math
import sys

from benchmarks.competitor import RADII_FILE, Competitor
from benchmarks.competitors import PEERS
from benchmarks.streams import BLOCK, STREAMS, Stream
from benchmarks.worker import Feed, Limit, timed

SIZES = {"2-D": (30, 50, 100, 300), "10-D": (50,), "54-D": (50,)}
LOW, HIGH = 0.02, 50.0  # radii, in the unit of the streams
FACTOR = 1.5
STEPS = 8
LIMIT = Limit(least=2000, seconds=1.5, most=6 * BLOCK)  # points learnt before counting


def held(competitor: Competitor, stream: Stream, n: int, radius: float, feed: Feed) -> int:
    """Number of micro-clusters after some points of the stream."""
    competitor.build(stream, n, radius)
    timed(feed.chunks(), competitor.learn_one, None, LIMIT)
    return competitor.micro_clusters()


def search(competitor: Competitor, stream: Stream, n: int) -> tuple[float, int]:
    """Radius with which the number of micro-clusters is nearest to n, and that number."""
    competitor.build(stream, n, HIGH)
    feed = Feed(competitor, stream, "one")
    tried = {one: held(competitor, stream, n, one, feed) for one in competitor.choices}
    if not tried:
        low, high = _bracket(competitor, stream, n, feed, tried)
        for _ in range(STEPS):
            radius = math.sqrt(low * high)
            tried[radius] = held(competitor, stream, n, radius, feed)
            low, high = (radius, high) if tried[radius] > n else (low, radius)
    best = min(tried, key=lambda radius: abs(math.log(max(tried[radius], 1) / n)))
    return best, tried[best]


def _bracket(
    competitor: Competitor, stream: Stream, n: int, feed: Feed, tried: dict[float, int]
) -> tuple[float, float]:
    """Radii with more and with fewer than n; from above: at small radii the count may drop."""
    radius = HIGH
    while radius > LOW:
        tried[radius] = held(competitor, stream, n, radius, feed)
        if tried[radius] > n:
            return radius, radius * FACTOR
        radius /= FACTOR
    return radius, radius * FACTOR


def main() -> None:
    """Search for all competitors, or for those that are named."""
    radii = json.loads(RADII_FILE.read_text()) if RADII_FILE.exists() else {}
    for competitor in (peer for peer in PEERS if peer.tuned):
        if sys.argv[1:] and competitor.name not in sys.argv[1:]:
            continue
        if reason := competitor.available():
            print(f"{competitor.name}: {reason}")
            continue
        for stream in STREAMS.values():
            for n in SIZES[stream.name]:
                radius, found = search(competitor, stream, n)
                radii.setdefault(competitor.name, {}).setdefault(stream.name, {})[str(n)] = round(
                    radius, 4
                )
                print(f"{competitor.name} {stream.name} N={n}: {radius:.4f} gives {found}")
                RADII_FILE.write_text(json.dumps(radii, indent=2) + "\n")


if __name__ == "__main__":
    main()
