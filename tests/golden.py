"""Streams whose results must not change to the last bit, for before and after a change of code.

    python -m tests.golden record FILE.json
    python -m tests.golden compare FILE.json [--only PATTERN]

Record with one checkout, compare with another: PYTHONPATH decides which `spclust` is meant. Both
have to run on the same kind of processor, with the same NumPy and Numba, because the last bits
depend on them. Only the public interface is used, so that everything behind it may be renamed.
"""

import argparse
import json
import sys
import time
import warnings
import zlib
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

import spclust
from tests.golden_digests import arithmetic, digest
from tests.golden_others import OTHERS
from tests.golden_streams import LEARNING

STREAMS = {**LEARNING, **OTHERS}


def recorded(name, stream):
    """Summary and digests of one stream, all of it seeded by its name."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    summary, digests = {}, {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for quantity, value in stream(rng):
            if quantity == "summary":
                summary = value
            elif quantity in digests:
                raise KeyError(f"{quantity!r} is there twice")
            else:
                digests[quantity] = digest(value)
    return {"summary": summary, "digests": digests}


def chosen(names, pattern):
    """Names that have a pattern, such as "river" or "*-diag", in them."""
    return [name for name in names if fnmatch(name, f"*{pattern}*")]


def record(path, pattern=""):
    """Write what streams give to a file; the number of streams that failed."""
    streams, failures = {}, 0
    for name in chosen(STREAMS, pattern):
        try:
            streams[name] = recorded(name, STREAMS[name])
        except Exception as error:
            failures += 1
            print(f"{name}: failed: {type(error).__name__}: {error}")
    content = {"arithmetic": arithmetic(), "streams": streams}
    Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    digests = sum(len(one["digests"]) for one in streams.values())
    print(f"{len(streams)} streams with {digests} quantities recorded.")
    return failures


def compare(path, pattern=""):
    """Print which streams of a file are others now, and in what; the number of them."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    for what, now in arithmetic().items():
        if content["arithmetic"][what] != now:
            print(f"Note: recorded with {what} {content['arithmetic'][what]}, this is {now}.")
    known, differing = content["streams"], 0
    for name in chosen(known, pattern):
        found = differences(name, known[name])
        differing += bool(found)
        for line in found:
            print(f"{name}: {line}")
    unknown = chosen([name for name in STREAMS if name not in known], pattern)
    if unknown:
        print(f"Note: not in the file: {', '.join(unknown)}.")
    print(f"{len(chosen(known, pattern))} streams compared, {differing} differ.")
    return differing


def differences(name, before):
    """Sentences about what has changed in a stream."""
    if name not in STREAMS:
        return ["there is no such stream any more"]
    try:
        now = recorded(name, STREAMS[name])
    except Exception as error:
        return [f"failed: {type(error).__name__}: {error}"]
    old, new = before["digests"], now["digests"]
    found = []
    both = [quantity for quantity in old if quantity in new]
    for what, quantities in (
        ("differs in", [quantity for quantity in both if old[quantity] != new[quantity]]),
        ("lacks", [quantity for quantity in old if quantity not in new]),
        ("has in addition", [quantity for quantity in new if quantity not in old]),
    ):
        if quantities:
            found.append(f"{what} {len(quantities)} of {len(old)}: {'; '.join(quantities)}")
    if found and before["summary"] != now["summary"]:
        found.append(f"was {before['summary']}, is {now['summary']}")
    return found


def main(arguments=None):
    """Run the command; 1 if anything differs or fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden")
    parser.add_argument("what", choices=["record", "compare", "list"])
    parser.add_argument("file", nargs="?", metavar="FILE.json")
    parser.add_argument("--only", default="", metavar="PATTERN", help="streams that have it")
    given = parser.parse_args(arguments)
    if not chosen(STREAMS, given.only):
        parser.error(f"no stream has {given.only!r} in its name")
    if given.what == "list":
        print("\n".join(chosen(STREAMS, given.only)))
        return 0
    if given.file is None:
        parser.error("name a file")
    started = time.perf_counter()
    print(f"spclust of {Path(spclust.__file__).parent}")
    failures = (record if given.what == "record" else compare)(given.file, given.only)
    print(f"{time.perf_counter() - started:.1f} s")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
