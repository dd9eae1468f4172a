"""Interrupts: whatever is interrupted in a renewal, the state is whole, and nothing is lost."""

import numpy as np
import pytest

from spclust import SPC
from spclust.auto import renewal
from spclust.stream import automatic_stream, flat_rows
from tests.auto.automatic_states import memory, two_clusters


@pytest.mark.parametrize("half_life", [None, 15.0])
@pytest.mark.parametrize(
    "name", ["renew_metric", "measure_in", "set_dues", "remove_from", "restart_clocks_of", "assign"]
)
def test_an_interrupt_inside_of_a_renewal_leaves_a_whole_state(monkeypatch, name, half_life):
    """Before or after the function has written to the state that it was given."""
    if half_life is None and name in ("remove_from", "restart_clocks_of", "assign"):
        return  # these are not called
    X, _ = two_clusters(300)
    whole, whole_function = SPC(10, half_life=half_life).fit(X), getattr(renewal, name)
    for after in (False, True):
        broken, interrupts = SPC(10, half_life=half_life).fit(X[:1]), 0

        def interrupt(*arguments, after=after):
            if after:
                whole_function(*arguments)
            raise KeyboardInterrupt

        while broken.n_samples_seen_ < len(X):
            before = broken.n_samples_seen_
            try:
                with monkeypatch.context() as patch:
                    patch.setattr(renewal, name, interrupt)
                    broken.partial_fit(X[before:])
            except KeyboardInterrupt:
                interrupts += 1
                assert SPC.from_bytes(broken.to_bytes()).n_samples_seen_ == broken.n_samples_seen_
                assert np.isfinite(broken.structures_.mean).all()
                at = broken.n_samples_seen_
                broken.partial_fit(X[at : at + 1])  # the renewal is made up for
        assert interrupts >= 3
        assert memory(broken) == memory(whole)


def test_an_interrupt_between_two_chunks_keeps_what_was_learnt(monkeypatch):
    X, _ = two_clusters(500)
    monkeypatch.setattr(flat_rows, "_MOST_ROWS", 100)
    model, learnt = SPC(20), automatic_stream.AutomaticStream._learn_flat

    def learn_flat(stream, rows):
        if stream.seen >= 300:
            raise KeyboardInterrupt
        learnt(stream, rows)

    model.partial_fit(X[:1])
    with monkeypatch.context() as patch:
        patch.setattr(automatic_stream.AutomaticStream, "_learn_flat", learn_flat)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[1:])
    assert model.n_samples_seen_ == 301
    model.partial_fit(X[301:])
    assert memory(model) == memory(SPC(20).fit(X))
