"""The page of the development server in a browser: a person erases, completions appear, what is kept stays.

The model is a stand-in whose completions are known: entry i of completion k is i + k modulo 2.
"""

import json
import pathlib
import re
import socket
import subprocess
import time

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.server.browser import DRIVER, Browser, needs_browser
from tests.serving.server.support import running
from tfdsmcmc.serving.server import development_server as server

SIDE = 6
ENTRIES = np.arange(SIDE**2)
PICTURE = ENTRIES % 3 == 0


class StandIn(tf.Module):
    """Functions with the signatures of a served model."""

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, "num_samples"), tf.TensorSpec([2], tf.int32, "seed")])
    def sample(self, num_samples, seed):
        picture = tf.constant(PICTURE[np.newaxis], tf.float32) + 0 * tf.cast(seed[0], tf.float32)
        return {"x": tf.repeat(picture, num_samples, 0)}

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, SIDE**2], tf.float32, "x"),
            tf.TensorSpec([None, SIDE**2], tf.bool, "mask"),
            tf.TensorSpec([], tf.int32, "num_imputations"),
            tf.TensorSpec([2], tf.int32, "seed"),
        ]
    )
    def impute(self, x, mask, num_imputations, seed):
        check = tf.debugging.Assert(tf.reduce_any(mask), ["mask must have an observed entry. Received: none"])
        with tf.control_dependencies([check]):
            numbers = tf.range(num_imputations)[:, tf.newaxis, tf.newaxis] + tf.range(SIDE**2) + 0 * seed[0]
            return {"x": tf.where(mask, x, tf.cast(numbers % 2, tf.float32))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Version 1 can complete, version 2 cannot."""
    folder, module = tmp_path_factory.mktemp("models") / "six & <b>", StandIn()
    sample, impute = module.sample.get_concrete_function(), module.impute.get_concrete_function()
    tf.saved_model.save(module, str(folder / "1"), {"sample": sample, "impute": impute})
    tf.saved_model.save(module, str(folder / "2"), {"sample": sample})
    (folder / "1" / "assets" / "manifest.json").write_text(json.dumps({"data_shape": [SIDE, SIDE]}))
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([DRIVER, f"--port={port}"], **silent)
    try:
        for _ in range(500):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        browser = Browser(f"http://127.0.0.1:{port}", tmp_path_factory.mktemp("profile"))
        yield browser
        browser.close()
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def page(browser, folder):
    with running(folder / "1") as server:
        browser.open(server.url)
        browser.until("page.x.length > 0 && !at('complete').disabled")
        yield browser


def colours(browser, selector):
    """Which of the page's colours each cell of a canvas has, (entries,): "ink", "filled", "erased" or "" for paper."""
    script = """(() => {
      const canvas = document.querySelector(SELECTOR), context = canvas.getContext("2d");
      const scale = canvas.width / page.width, named = {};
      for (const name of ["ink", "filled", "erased"]) {
        const one = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d");
        one.fillStyle = colour(name); one.fillRect(0, 0, 1, 1);
        named[one.getImageData(0, 0, 1, 1).data.join()] = name;
      }
      return page.x.map((value, i) => named[context.getImageData((i % page.width + 0.5) * scale,
        (Math.floor(i / page.width) + 0.5) * scale, 1, 1).data.join()] ?? "");
    })()"""
    return np.array(browser.run(script.replace("SELECTOR", json.dumps(selector))))


def assert_completed(browser, hidden):
    """All that the page shows for a set of erased entries."""
    browser.until("page.completions !== null")
    np.testing.assert_array_equal(browser.run("page.mask"), ~hidden)
    picture = np.where(PICTURE, "ink", "")
    np.testing.assert_array_equal(colours(browser, "#digit"), np.where(hidden, "erased", picture))
    for k in range(12):
        drawn = np.where(hidden, np.where((ENTRIES + k) % 2 == 1, "filled", ""), picture)
        np.testing.assert_array_equal(colours(browser, f"#completions canvas:nth-child({k + 1})"), drawn)
    np.testing.assert_array_equal(colours(browser, "#mean")[~hidden], picture[~hidden])


@needs_browser
def test_it_begins_with_a_sample_and_says_what_it_is(page):
    assert page.run("page.x") == PICTURE.astype(float).tolist()
    assert page.run("[page.width, page.height]") == [SIDE, SIDE]
    np.testing.assert_array_equal(colours(page, "#digit"), np.where(PICTURE, "ink", ""))
    assert "development server" in page.run("document.body.innerText")
    assert page.run("document.querySelector('h1').innerText") == "six & <b>"
    assert page.run("performance.getEntriesByType('resource').every((entry) => entry.name.startsWith(location.origin))")


@needs_browser
@pytest.mark.parametrize("pointer", ["mouse", "touch"])
def test_what_is_drawn_over_is_erased_and_completed(page, pointer):
    middle_of_row_2 = -0.5 / SIDE
    page.drag("#digit", [(-0.49, middle_of_row_2), (0.49, middle_of_row_2)], pointer)
    assert_completed(page, ENTRIES // SIDE == 2)
    page.click("#restore")
    assert page.run("page.mask.every(Boolean) && page.completions === null")
    np.testing.assert_array_equal(colours(page, "#digit"), np.where(PICTURE, "ink", ""))


@needs_browser
def test_the_lower_half_and_the_keyboard(page):
    page.click("#lower")
    assert_completed(page, ENTRIES // SIDE >= SIDE // 2)
    page.click("#restore")
    page.run("at('digit').focus()")
    page.keys("\ue014\ue015 ")  # right, down, space
    assert page.run("page.completions === null")
    page.keys("\ue007")  # Enter
    assert_completed(page, ENTRIES == SIDE + 1)
    page.keys("\ue00c ")  # space again restores
    page.click("#complete")
    page.until("at('says').textContent.startsWith('Nothing is erased')")


@needs_browser
def test_errors_are_said_in_words(browser, folder):
    with running(folder / "1") as server:
        browser.open(server.url)
        browser.until("page.x.length > 0 && !at('complete').disabled")
        browser.click("#lower")
        browser.until("page.completions !== null")
        browser.run("page.mask.fill(false)")
        browser.click("#complete")
        browser.until("at('says').textContent === 'mask must have an observed entry. Received: none'")
        assert browser.run("at('says').className") == "error"
        browser.click("#new")
        browser.until("at('says').className === '' && page.mask.every(Boolean)")
    browser.run("page.mask[0] = false")
    browser.click("#complete")
    browser.until("at('says').textContent.includes('does not answer')")


HOLD = """window.held = [], window.fetch = (...request) =>
  new Promise((tell) => held.push((words, ok = true) => tell({ ok, status: 500, text: async () => words })))"""
PICTURES = json.dumps({"outputs": [[[1.0] * SIDE**2]] * 12})
ONE_PICTURE = json.dumps({"outputs": [[1.0] * SIDE**2]})
FAULT = json.dumps({"error": 'x, "NaN" or \\, may be Infinity, -Infinity, but Received: [NaN, 1]'})


@needs_browser
@pytest.mark.parametrize("ok", [True, False])
@pytest.mark.parametrize(("button", "words"), [("complete", PICTURES), ("new", ONE_PICTURE)])
def test_an_answer_that_comes_after_a_change_is_not_shown(page, button, words, ok):
    page.run(HOLD)
    page.run("page.mask[0] = false")
    page.click(f"#{button}")
    page.until("held.length === 1")
    page.click("#restore")
    page.run(f"held[0]({json.dumps(words if ok else FAULT)}, {json.dumps(ok)})")
    page.run("new Promise((done) => setTimeout(done, 50))")
    assert page.run("at('says').textContent") == "Restored. Erase part of it."
    assert page.run("page.completions === null") and page.run("page.x") == PICTURE.astype(float).tolist()


@needs_browser
@pytest.mark.parametrize("button", ["complete", "new"])
def test_an_answer_that_is_none_is_told_in_words(page, button):
    page.run(HOLD)
    for words, ok, said in (
        ("{}", True, "The server's answer is not "),
        ('{"outputs": null}', True, "The server's answer is not "),
        ('{"outputs": [null]}', True, "The server's answer is not "),
        ('{"outputs": [[0, 1]]}', True, "The server's answer is not "),
        (
            (PICTURES if button == "complete" else ONE_PICTURE).replace("1.0", "NaN"),
            True,
            "The server's answer is not ",
        ),
        ("5", True, "The server's answer is not "),
        ("<html>", True, "The server's answer is no JSON."),
        ("<html>", False, "The server answered with error 500."),
        (FAULT, False, json.loads(FAULT)["error"]),
    ):
        page.run("held.length = 0, page.mask[0] = false")
        page.click(f"#{button}")
        page.until("held.length === 1")
        page.run(f"held[0]({json.dumps(words)}, {json.dumps(ok)})")
        page.until("at('says').className === 'error'")
        assert page.run("at('says').textContent").startswith(said), words
        assert page.run("page.x") == PICTURE.astype(float).tolist()


@needs_browser
def test_every_cell_is_seen_at_every_width(page):
    """Gaps between cells are all there, at the pixels of the screen, and stay so when the window changes."""
    assert page.run("getComputedStyle(at('none')).display") == "grid"
    for width, ratio in ((420, 1), (700, 1.5), (613, 1), (1100, 2)):
        size = {"width": width, "height": 900, "deviceScaleFactor": ratio, "mobile": False}
        page.devtools("Emulation.setDeviceMetricsOverride", **size)
        page.until("at('digit').width === Math.round(at('digit').clientWidth * devicePixelRatio)")
        page.run("page.mask.fill(false), drawDigit()")
        for axes in ("0, 3, canvas.width, 1", "3, 0, 1, canvas.height"):
            script = f"""(() => {{ const canvas = at("digit"), found = [];
              const data = canvas.getContext("2d").getImageData({axes}).data;
              for (let i = 3; i < data.length; i += 4) found.push(data[i] > 0 ? 1 : 0);
              return found; }})()"""
            inked = np.array(page.run(script))
            starts, ends = (np.flatnonzero(np.diff(inked, prepend=0, append=0) == sign) for sign in (1, -1))
            assert len(starts) == SIDE and np.ptp(ends - starts) <= 1
            gaps = starts[1:] - ends[:-1]
            assert (gaps == max(1, round(ratio))).all()
    page.devtools("Emulation.clearDeviceMetricsOverride")


@needs_browser
def test_shapes_of_every_kind_are_laid_out(page):
    for units, shape, expected in (
        (36, [6, 6], [6, 6]),
        (36, [1, 6, 6], [6, 6]),
        (36, [9, 4], [9, 4]),
        (36, [18, 2], [6, 6]),
        (36, [2, 18], [6, 6]),
        (36, [7, 7], [6, 6]),
        (36, None, [6, 6]),
        (36, "6", [6, 6]),
        (1200, [600, 2], [35, 35]),
        (10, [10], [3, 4]),
        (1, [1], [1, 1]),
    ):
        page.run(f"page.units = {units}, layOut({json.dumps(shape)})")
        assert page.run("[page.height, page.width]") == expected
        box = page.run("at('digit').getBoundingClientRect()")
        assert box["height"] <= 36 * 16 + 2 and box["width"] > 100, shape


@needs_browser
def test_without_imputation_it_says_so(browser, folder):
    with running(folder / "2") as server:
        browser.open(server.url)
        browser.until("at('says').textContent.includes('no signature impute')")
        assert browser.run("page.x.length") == SIDE**2 and browser.run("at('complete').disabled")
        assert browser.run("[page.width, page.height]") == [SIDE, SIDE]  # no manifest


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1100])
def test_nothing_is_cut_off_and_words_can_be_read(page, scheme, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    page.devtools("Emulation.setDeviceMetricsOverride", **size)
    page.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    page.click("#lower")
    assert_completed(page, ENTRIES // SIDE >= SIDE // 2)
    assert page.run("document.documentElement.scrollWidth") <= width
    for foreground, background in [("text", "page"), ("quiet", "page"), ("error", "page"), ("text", "paper")]:
        one, other = (luminance(page.run(f"colour('{name}')")) for name in (foreground, background))
        assert (max(one, other) + 0.05) / (min(one, other) + 0.05) >= 4.5, (foreground, background)  # WCAG 2.2, AA
    page.devtools("Emulation.clearDeviceMetricsOverride")


def luminance(colour):
    """Relative luminance of #rrggbb (WCAG 2.2)."""
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def test_the_page_needs_nothing_from_elsewhere():
    text = pathlib.Path(server.__file__).with_name("page").joinpath("index.html").read_text(encoding="utf-8")
    assert not re.findall(r"https?:|//\w|@import|url\(|innerHTML", text)
