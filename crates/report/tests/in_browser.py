#!/usr/bin/env python3
"""Opens a report in a headless browser and fails if anything in it does not work.

    in_browser.py REPORT.html [--pictures FOLDER]

Every figure must be drawn without an error, nothing may be fetched, tables must sort, legends must hide series, the
theme must change. Needs Chromium and nothing else. With --pictures it leaves screenshots (light, dark, phone) and a PDF.
"""

import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time


class Browser:
    """Chromium by its pipe: messages are JSON, each ended by a zero byte."""

    def __init__(self, width, height):
        program = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
        if program is None:  # tidy: allow Python syntax
            sys.exit("in_browser.py: no Chromium found")
        to_read, self.write = os.pipe()
        self.read, to_write = os.pipe()
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # The browser reads commands from descriptor 3 and answers on descriptor 4.
        line = f'exec "{program}" "$@" 3<&{to_read} 4>&{to_write}'
        flags = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
            f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}", "--no-first-run", "about:blank",
        ]
        self.process = subprocess.Popen(
            ["bash", "-c", line, "chromium", *flags], pass_fds=(to_read, to_write), stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.number, self.events = b"", 0, []
        target = self.call("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True}, None)["sessionId"]

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.read, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self.rest += part
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, params=None, session="own"):
        self.number += 1
        command = {"id": self.number, "method": method, "params": params or {}}
        if session is not None:
            command["sessionId"] = self.session
        os.write(self.write, json.dumps(command).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def value(self, script):
        result = self.call("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def open(self, path, width, height, scheme="light", is_phone=False):
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 2 if is_phone else 1, "mobile": is_phone})
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.call("Page.navigate", {"url": pathlib.Path(path).resolve().as_uri()})
        until = time.time() + 60
        while self.value("document.readyState") != "complete" and time.time() < until:
            time.sleep(0.05)

    def pictures(self, folder, name, height):
        """The whole page in slices that can be looked at."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        tops = range(0, int(size["height"]), height)
        for number, top in enumerate(tops, 1):
            clip = {"x": 0, "y": top, "width": size["width"], "height": min(height, size["height"] - top), "scale": 1}
            options = {"format": "png", "captureBeyondViewport": True, "clip": clip}
            data = self.call("Page.captureScreenshot", options)["data"]
            (folder / f"{name}-{number:02}.png").write_bytes(base64.b64decode(data))

    def pdf(self, path):
        options = {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": True, "preferCSSPageSize": False,
                   "marginTop": 0.6, "marginBottom": 0.6, "marginLeft": 0.55, "marginRight": 0.55}
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.printToPDF", options)["data"]))

    def close(self):
        try:
            self.call("Browser.close", {}, None)
        except (RuntimeError, OSError):
            pass
        self.process.wait(20)


def check(browser, path, failures):
    def expect(what, holds):
        if not holds:
            failures.append(what)

    browser.open(path, 1280, 900)
    first = browser.value("window.figuresDrawn")
    wanted = browser.value("window.figuresWanted")
    milliseconds = browser.value("(async () => { const t = performance.now(); await drawAllFigures(); return performance.now() - t; })()")
    drawn = browser.value("window.figuresDrawn")
    errors = browser.value("window.figureErrors")
    expect(f"{drawn} of {wanted} figures are drawn", drawn == wanted)
    expect(f"errors of figures: {errors[:3]}", not errors)
    lazily = wanted < 4 or first < wanted
    expect("figures out of view are drawn at once", lazily)
    empty = browser.value(
        "[...document.querySelectorAll('figure[data-figure] .panel')].filter(p => !p.querySelector('svg path, svg line, svg rect')).length")
    expect(f"{empty} panels are empty", empty == 0)
    wide = browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    expect(f"the page is {wide} px too wide", wide <= 0)
    unnamed = browser.value("[...document.querySelectorAll('.panel svg')].filter(s => !s.getAttribute('aria-label')).length")
    expect(f"{unnamed} charts have no words", unnamed == 0)
    if browser.value("!!document.querySelector('#classes thead button')"):
        order = """(() => {
            const table = document.getElementById('classes'), heads = [...table.querySelectorAll('thead th')];
            const at = heads.findIndex(h => h.dataset.csv === 'latency_p99_ns'), button = heads[at].querySelector('button');
            const values = () => [...table.tBodies[0].rows].map(r => Number(r.cells[at].dataset.v));
            const sorted = (v, sign) => v.every((x, i) => i === 0 || sign * (x - v[i - 1]) >= 0);
            button.click(); const up = sorted(values(), 1) && heads[at].ariaSort === 'ascending';
            button.click(); return up && sorted(values(), -1) && heads[at].ariaSort === 'descending';
        })()"""
        expect("the table of classes does not sort", browser.value(order))
    if browser.value("!!document.querySelector('.legend button[data-series]')"):
        hidden = """(async () => {
            const drawn = () => new Promise(r => setTimeout(r, 300));
            const figure = document.querySelector('.legend').closest('figure');
            const marks = () => figure.querySelectorAll('.panel svg path').length;
            const button = figure.querySelector('button[data-series]'), before = marks();
            button.click(); await drawn(); const fewer = marks() < before && button.ariaPressed === 'false';
            button.click(); await drawn(); return fewer && marks() === before;
        })()"""
        expect("a legend does not hide its series", browser.value(hidden))
    recolored = """(() => {
        const ink = () => getComputedStyle(document.body).color; const before = ink();
        document.getElementById('theme').click(); const after = ink();
        document.getElementById('theme').click(); return before !== after && ink() === before;
    })()"""
    expect("the theme does not change", browser.value(recolored))
    if wanted:
        svg = browser.value("figureAs.svg(figureAs.all[0])")
        expect("a figure is not saved as SVG", "<svg" in svg and "</svg>" in svg)
        csv = browser.value("figureAs.csv(figureAs.all[0])")
        expect("a figure is not saved as CSV", csv.count("\n") > 2)
    browser.call("Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True})
    time.sleep(1.5)
    wide = browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    expect(f"the page is {wide} px too wide for a phone", wide <= 0)
    for event in browser.events:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            failures.append(f"exception: {params['exceptionDetails'].get('exception', {}).get('description', '')[:300]}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            failures.append(f"console: {[a.get('value') for a in params['args']]}")
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            failures.append(f"log: {params['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("data:", "blob:")) and url != pathlib.Path(path).resolve().as_uri():
                failures.append(f"fetches {url}")
    return wanted, first, milliseconds


def pictures(browser, path, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, width, height, scheme, is_phone in [
            ("light", 1280, 900, "light", False), ("dark", 1280, 900, "dark", False), ("phone", 390, 844, "light", True)]:
        browser.value("try { localStorage.clear() } catch {}")
        browser.open(path, width, height, scheme, is_phone)
        browser.value("drawAllFigures()")
        browser.pictures(folder, name, 1400)
    browser.open(path, 1280, 900, "dark")
    browser.pdf(folder / "print.pdf")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("report")
    arguments.add_argument("--pictures", type=pathlib.Path)
    given = arguments.parse_args()
    failures = []
    browser = Browser(1280, 900)
    try:
        wanted, first, milliseconds = check(browser, given.report, failures)
        if given.pictures:
            pictures(browser, given.report, given.pictures)
    finally:
        browser.close()
    for failure in failures:
        print(f"in_browser.py: {failure}", file=sys.stderr)
    print(f"{wanted} figures, {first} drawn at once, the others in {milliseconds:.0f} ms, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
