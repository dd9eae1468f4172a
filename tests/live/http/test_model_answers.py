"""What is asked of the model: clusters, structures, events."""

import pytest

from tests.live.common import needs_a_server
from tests.live.http.common import loaded, messages

pytestmark = needs_a_server


def test_clusters_and_structures_are_those_of_the_model(service, tmp_path):
    model = loaded(service, tmp_path)
    clusters, structures = (
        service.get(f"/{name}").json()[name] for name in ("clusters", "structures")
    )
    described = model.describe()
    assert [each["label"] for each in clusters] == described["label"].tolist()
    assert [list(each["centre"].values()) for each in clusters] == described["centre"].tolist()
    assert set(clusters[0]["centre"]) == {"x", "y"}
    assert len(structures) == len(model.structures_.mean)
    assert sum(each["count"] for each in clusters) <= model.n_samples_seen_


def test_events_go_on_after_the_last_one_that_is_known(service):
    events = service.get("/events").json()["events"]
    assert len(events) >= 4
    assert {each["event"] for each in events} <= {"birth", "death", "merge", "split", "move"}
    assert [each["number"] for each in events] == list(range(1, len(events) + 1))
    last = events[-1]["number"]
    assert service.get(f"/events?since={last - 2}").json()["events"] == events[-2:]
    assert service.get(f"/events?since={last}").json()["events"] == []
    # A number of a process of before: its events are not known, all of this one are new.
    assert service.get("/events?since=1000000").json()["events"] == events


@pytest.mark.parametrize("since", ["-1", "x", "%C2%B2", "1" * 5000, "1.5"])
def test_what_is_no_number_of_an_event_is_refused(service, since):
    answer = service.get(f"/events?since={since}")
    assert answer.status == 400
    assert answer.error.endswith("is not the number of an event.")


def test_events_are_streamed_from_the_last_id_on(service):
    events = service.get("/events").json()["events"]
    assert len(events) > 2
    first = messages(service, "/events/stream", 2, **{"Last-Event-ID": "0"})
    assert [each["data"] for each in first] == events[:2]
    assert [each["event"] for each in first] == [each["event"] for each in events[:2]]
    assert [each["id"] for each in first] == ["1", "2"]
    (second,) = messages(service, "/events/stream", 1, **{"Last-Event-ID": "1"})
    assert second["data"] == events[1]
    (third,) = messages(service, "/events/stream?since=2", 1)
    assert third["data"] == events[2]
    (anew,) = messages(service, "/events/stream", 1, **{"Last-Event-ID": "99999999"})
    assert anew["data"] == events[0]


def test_the_page_gets_the_past_and_then_snapshots(service):
    past, snapshot, later = messages(service, "/live?x=y&y=x", 3)
    assert (past["event"], snapshot["event"]) == ("past", "snapshot")
    assert set(past["data"]["history"]) >= {"time", "rate", "clusters"}
    assert snapshot["data"]["source"] == "POST /learn"
    assert snapshot["data"]["view"] == {"x": "y", "y": "x", "projection": False}
    assert later["data"]["number"] > snapshot["data"]["number"]
    (_, projected) = messages(service, "/live?view=projection", 2)
    assert projected["data"]["view"]["projection"]
    (_, default) = messages(service, "/live?x=nothing&y=x", 2)
    assert default["data"]["view"] == {"x": "x", "y": "y", "projection": False}
