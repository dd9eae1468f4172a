"""Error about a contestant: one sentence."""


class ContestantError(Exception):
    """A contestant cannot be loaded, or breaks the protocol.

    It is no ValueError: a search counts those as settings that an algorithm refuses.
    """
