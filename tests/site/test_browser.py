"""The site in a real browser: nothing overflows at 1440 and 390 px, and nothing is asked outside.

Screenshots go to `output/screenshots`.
"""

import os
import shutil

import pytest

from tests.site.built import SITE, pages

CHROMIUM = (
    os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
)
if not (SITE / "index.html").exists():
    pytest.skip("no site was built: make docs", allow_module_level=True)
if CHROMIUM is None:
    pytest.skip("needs Chromium: apt-get install chromium", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api")

WIDTHS = {1440: 900, 390: 844}
SHOWN = {
    "start": "index.html",
    "gallery": "auto_gallery/plot_structures_and_clusters.html",
    "spc": "reference/generated/api/names/spclust.SPC.html",
    "tutorial": "tutorials/first_ten_minutes.html",
    "equations": "explanation/automatic_renewal.html",
    "option": "reference/generated/command/cluster.html",
    "thumbnails": "auto_gallery/index.html",
}
SCREENSHOTS = SITE.parent / "screenshots"


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


def opened(browser, width, scheme="light"):
    """A page, and the requests that would leave the machine."""
    size = {"width": width, "height": WIDTHS[width]}
    page = browser.new_context(viewport=size, color_scheme=scheme).new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    return page, asked


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_and_ask_nobody_else(browser, width, name, scheme):
    page, asked = opened(browser, width, scheme)
    page.goto((SITE / SHOWN[name]).as_uri())
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}-{width}-{scheme}.png")
    assert overflow(page) <= 0
    assert page.locator("h1").first.is_visible()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    page.context.close()


def test_no_page_is_wider_than_a_phone(browser):
    page, _ = opened(browser, 390)
    page.route("**/*.js", lambda route: route.abort())  # quicker, and no influence on widths
    wide = []
    for one in pages():
        page.goto(one.path.as_uri(), wait_until="domcontentloaded")
        if overflow(page) > 0:
            wide.append(one.path.relative_to(SITE).as_posix())
    assert wide == []
