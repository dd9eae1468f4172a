"""Tables of streams by their names."""

import functools

from tests.golden_streams.learning import fitted, plain_stream


class Streams(dict):
    """Streams by name, in the order in which they are noted."""

    def note(self, name):
        """Decorate a stream, to note it by its name."""

        def noted(function):
            assert name not in self
            self[name] = function
            return function

        return noted

    def plain(self, name, data, n, d, how=fitted, timed=False, **params):
        """Note a `plain_stream`."""
        recipe = {"data": data, "n": n, "d": d, "how": how, "params": params, "timed": timed}
        self.note(name)(functools.partial(plain_stream, **recipe))
