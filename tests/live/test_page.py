"""The page in a real Chromium: what it shows of a known stream, and how it can be used."""

import colorsys
import os
import re
import shutil
import threading
import time

import numpy as np
import pytest

from tests.live.common import CSV, needs_a_server, served

sync_api = pytest.importorskip("playwright.sync_api", reason="needs pip install playwright")

CHROMIUM = (
    os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
)
pytestmark = [
    needs_a_server,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]
CENTRES = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])
LATER = np.array([40.0, 40.0])
SIZES = {"wide": (1440, 900), "phone": (390, 844)}


class Stream(threading.Thread):
    """Posts rows of three clusters, some of them each tenth of a second, until it is stopped."""

    def __init__(self, service, rows=60):
        super().__init__(daemon=True)
        self.service, self.rows, self.centres = service, rows, CENTRES
        self.stopped = False
        self._rng = np.random.default_rng(0)

    def body(self, rows):
        chosen = self.centres[self._rng.integers(0, len(self.centres), rows)]
        X = chosen + self._rng.normal(size=chosen.shape)
        return "x,y\n" + "".join(f"{x},{y}\n" for x, y in X)

    def run(self):
        while not self.stopped:
            try:
                self.service.post("/learn", self.body(self.rows), CSV)
            except OSError:  # it is being restarted
                time.sleep(0.2)
            time.sleep(0.1)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with served(tmp_path_factory.mktemp("page"), "--half-life", 2000) as service:
        yield service


@pytest.fixture(scope="module")
def stream(service):
    stream = Stream(service)
    service.post("/learn", stream.body(3000), CSV)
    stream.start()
    yield stream
    stream.stopped = True
    stream.join()


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=["wide"])
def page(request, browser, service, stream):
    width, height = SIZES[request.param]
    context = browser.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.told, page.hosts = [], set()
    page.on("console", lambda said: page.told.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: page.told.append(str(error)))
    page.on("request", lambda asked: page.hosts.add(re.sub(r"^\w+:/*([^/]*).*", r"\1", asked.url)))
    page.goto(f"http://127.0.0.1:{service.port}/")
    wait_for_snapshots(page, 2)
    yield page
    context.close()
    away = "Failed to load resource"  # what Chromium says when a service is away
    assert [text for text in page.told if away not in text] == []
    assert page.hosts <= {f"127.0.0.1:{service.port}", ""}


def shown(page, name):
    return page.evaluate("name => document.documentElement.dataset[name]", name)


def wait_until(page, name, value, seconds=20):
    found = "([name, value]) => document.documentElement.dataset[name] === value"
    page.wait_for_function(found, arg=[name, value], timeout=1000 * seconds)


def wait_for_snapshots(page, more):
    there = "() => document.documentElement.dataset.snapshot !== undefined"
    page.wait_for_function(there, timeout=30_000)
    after = int(shown(page, "snapshot")) + more
    found = "number => +document.documentElement.dataset.snapshot >= number"
    page.wait_for_function(found, arg=after, timeout=30_000)


def colours_on_the_canvas(page):
    """All colours of the scatter with the number of their pixels."""
    return page.evaluate(
        """() => { const canvas = document.getElementById('scatter'), found = {};
        const d = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        for (let i = 0; i < d.length; i += 4) {
            const key = [d[i], d[i + 1], d[i + 2]].join(); found[key] = (found[key] || 0) + 1; }
        return found }"""
    )


def rgb_of(page, identity):
    """The colour of a cluster as the browser computes it."""
    text = page.evaluate(
        """id => { const e = document.createElement('i'); e.style.color = spclust.clusterColour(id);
        document.body.append(e); const c = getComputedStyle(e).color; e.remove(); return c }""",
        identity,
    )
    return ",".join(re.findall(r"\d+", text)[:3])


def hue_of(rgb):
    """Hue, 0 to 1, and saturation of a colour."""
    hue, _, saturation = colorsys.rgb_to_hls(*(int(part) / 255 for part in rgb.split(",")))
    return hue, saturation


def is_of_hue(rgb, wanted):
    """True for a colour, also a faded one, of a hue."""
    hue, saturation = hue_of(rgb)
    return saturation > 0.3 and abs((hue - wanted + 0.5) % 1 - 0.5) < 0.03


@pytest.mark.parametrize("page", SIZES, indirect=True)
def test_the_clusters_of_a_known_stream_are_shown_in_their_colours(page, service):
    ids = {row["label"] for row in service.get("/clusters").json()["clusters"]}
    assert len(ids) >= len(CENTRES)
    page.wait_for_function(
        "n => document.querySelectorAll('[data-cluster-id]').length >= n",
        arg=len(CENTRES),
        timeout=20_000,
    )
    listed = {
        int(row.get_attribute("data-cluster-id")) for row in page.locator("[data-cluster-id]").all()
    }
    assert ids & listed
    assert page.evaluate("spclust.pointsShown()") > 50
    pixels = colours_on_the_canvas(page)
    for identity in sorted(listed)[: len(CENTRES)]:
        hue, _ = hue_of(rgb_of(page, identity))
        alike = [count for rgb, count in pixels.items() if is_of_hue(rgb, hue)]
        assert sum(alike) > 50, identity
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if os.environ.get("SPCLUST_SCREENSHOTS"):
        wait_for_snapshots(page, 40)
        width = page.viewport_size["width"]
        page.screenshot(path=f"{os.environ['SPCLUST_SCREENSHOTS']}/live-{width}.png")


def test_a_birth_appears_within_two_seconds_of_being_told(page, service, stream):
    before = service.get("/events").json()["events"]
    last = before[-1]["number"] if before else 0
    stream.centres = np.vstack([CENTRES, LATER])
    deadline = time.monotonic() + 60
    born = []
    while not born and time.monotonic() < deadline:
        told = service.get(f"/events?since={last}").json()["events"]
        born = [event for event in told if event["event"] == "birth"]
        time.sleep(0.05)
    assert born
    mark = page.locator(f"[data-event-number='{born[0]['number']}']")
    mark.wait_for(state="attached", timeout=2000)
    assert mark.get_attribute("data-kind") == "birth"
    mark.focus()
    page.keyboard.press("Enter")
    assert re.search(r"Cluster \d+ was born at x = ", page.locator("#event-text").inner_text())


def test_pausing_and_going_on(page):
    page.locator("#pause").click()
    wait_until(page, "mode", "paused")
    number = shown(page, "snapshot")
    time.sleep(1.0)
    assert shown(page, "snapshot") == number
    page.locator("#live").click()
    wait_until(page, "mode", "live")
    wait_for_snapshots(page, 2)


def test_looking_back(page):
    wait_for_snapshots(page, 16)
    last = int(shown(page, "points"))
    page.locator("#slider").focus()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    wait_until(page, "mode", "paused")
    assert int(shown(page, "points")) < last
    page.keyboard.press("End")
    wait_until(page, "mode", "live")
    wait_for_snapshots(page, 2)
    assert int(shown(page, "points")) > last


def test_sorting_and_saving_a_picture(page, tmp_path):
    page.locator("#clusters th button").nth(1).click()
    assert page.locator("#clusters th").nth(1).get_attribute("aria-sort") in (
        "ascending",
        "descending",
    )
    with page.expect_download() as download:
        page.locator("#save").click()
    download.value.save_as(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_a_broken_connection_heals(browser, tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    page = browser.new_page()
    with served(tmp_path / "first", "--half-life", 2000) as first:
        stream = Stream(first)
        first.post("/learn", stream.body(2000), CSV)
        page.goto(f"http://127.0.0.1:{first.port}/")
        wait_for_snapshots(page, 2)
        first.process.kill()
        first.process.wait()
        wait_until(page, "connection", "closed")
        assert page.locator("#state").inner_text() == "Reconnecting…"
    with served(tmp_path / "second", "--port", first.port) as second:
        second.post("/learn", stream.body(3000), CSV)
        wait_until(page, "connection", "open", 30)
        wait_until(page, "points", "3000", 30)
        assert page.locator("#state").inner_text() != "Reconnecting…"
    page.close()
