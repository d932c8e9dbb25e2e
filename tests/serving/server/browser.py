"""A browser without a window."""

import base64
import json
import shutil
import time
import urllib.error
import urllib.request

import pytest

CHROMIUM = next((path for name in ("chromium", "google-chrome", "chrome") if (path := shutil.which(name))), None)
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1100,1000"
).split()
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the name of an element's identifier in the WebDriver protocol
needs_browser = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs chromium and chromedriver")


class Browser:
    """The few calls of the WebDriver protocol that are needed here (w3.org/TR/webdriver2)."""

    def __init__(self, address, folder):
        self._url = f"{address}/session"
        options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={folder}"]}
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}}
        self._url += "/" + self._call("POST", "", wanted)["sessionId"]

    def _call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:500]) from None

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def run(self, expression):
        """The value of an expression in the page."""
        return self._call("POST", "/execute/sync", {"script": f"return {expression};", "args": []})

    def until(self, expression):
        """Waits until an expression holds."""
        end = time.monotonic() + 30
        while not self.run(expression):
            assert time.monotonic() < end, f"not so: {expression}; the page says {self.run('at(`says`).textContent')!r}"
            time.sleep(0.02)

    def element(self, selector):
        return self._call("POST", "/element", {"using": "css selector", "value": selector})

    def click(self, selector):
        self._call("POST", f"/element/{self.element(selector)[ELEMENT]}/click", {})

    def keys(self, text):
        """Presses keys, one after the other, where the focus is."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": keys}]})

    def drag(self, selector, points, pointer="mouse"):
        """Draws over an element, from point to point in fractions of its width and height from its middle."""
        origin, box = self.element(selector), self.run(f"document.querySelector('{selector}').getBoundingClientRect()")
        moves = [
            {"type": "pointerMove", "origin": origin, "x": int(x * box["width"]), "y": int(y * box["height"])}
            for x, y in points
        ]
        down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        action = {"type": "pointer", "id": pointer, "parameters": {"pointerType": pointer}}
        self._call("POST", "/actions", {"actions": [action | {"actions": [moves[0], down, *moves[1:], up]}]})

    def devtools(self, command, **parameters):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    def close(self):
        self._call("DELETE", "")
