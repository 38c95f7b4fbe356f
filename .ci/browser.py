"""Checks a page with headless Chromium over the DevTools protocol; see .ci/browser.

Messages go through a pair of pipes (Chromium's file descriptors 3 and 4). So there is no port, and
Python needs no package.
"""

import argparse
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
    "--no-first-run", "--no-default-browser-check", "--disable-extensions", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--mute-audio", "--hide-scrollbars",
    "--force-color-profile=srgb", "--font-render-hinting=none",
    # No network: no name is found, and every address is behind a proxy that does not exist.
    "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=<-loopback>",
]
START_SECONDS = 60  # for Chromium to answer on a busy machine
SETTLE_SECONDS = 0.3  # after which a finished page has reported its last errors
TALLEST = 16000  # pixels; Chromium draws nothing beyond 16384


class Gone(Exception):
    """Chromium has ended or does not answer."""


class Browser:
    """A Chromium process that ends with the `with` block."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="netloom-browser-")
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        # Numbers above the final ones, so that neither overwrites the other.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (to_browser, from_browser)]

        def as_chromium_wants():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        program = shutil.which("chromium") or shutil.which("chromium-browser") or "chromium"
        self.log = open(f"{self.folder}/log", "wb")
        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={self.folder}/profile", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            preexec_fn=as_chromium_wants, pass_fds=(3, 4), start_new_session=True,
            env={**os.environ, "HOME": self.folder},
        )
        for end in (to_browser, from_browser, *ends):
            os.close(end)
        self.number, self.buffer, self.on_event = 0, b"", lambda message: None
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", seconds=5)
            self.process.wait(5)
        except (Gone, OSError, subprocess.TimeoutExpired):
            pass
        # Chromium has its own session, so this kills everything that it started and nothing else.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.log.close()
        os.close(self.output)
        os.close(self.input)
        shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, method, session=None, **parameters):
        """Sends a message without waiting for the answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]
        return self.number

    def receive(self, until):
        """Returns the next message, or None after `until`."""
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                return None
            data = os.read(self.input, 1 << 20)
            if not data:
                log = Path(f"{self.folder}/log").read_text(errors="replace")
                raise Gone(f"Chromium has ended: {log[-500:]}")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, seconds=START_SECONDS, **parameters):
        """Sends a message and returns the answer; events meanwhile go to `on_event`."""
        number, until = self.send(method, session, **parameters), time.monotonic() + seconds
        while (message := self.receive(until)) is not None:
            if message.get("id") == number:
                if "error" in message:
                    raise Gone(f"{method}: {message['error'].get('message')}")
                return message["result"]
            if "method" in message:
                self.on_event(message)
        raise Gone(f"{method}: no answer within {seconds} s")

    def listen(self, seconds, is_done=lambda: False):
        """Handles events until a condition holds or the time is over."""
        until = time.monotonic() + seconds
        while not is_done() and (message := self.receive(until)) is not None:
            if "method" in message:
                self.on_event(message)


class Findings:
    """Errors, warnings and requests of a page, from the events of the browser."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address
        self.errors, self.warnings, self.requests, self.is_loaded = [], [], [], False

    def watch(self, session):
        for domain in ("Runtime", "Network", "Log"):
            self.browser.send(f"{domain}.enable", session)
        # Workers and frames are watched from their first instruction on.
        self.browser.send("Target.setAutoAttach", session, autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        self.browser.send("Runtime.runIfWaitingForDebugger", session)

    def __call__(self, message):
        method, about = message["method"], message.get("params", {})
        if method == "Target.attachedToTarget":
            self.watch(about["sessionId"])
        elif method == "Page.loadEventFired":
            self.is_loaded = True
        elif method == "Runtime.consoleAPICalled":
            words = " ".join(str(a.get("value", a.get("description", a["type"]))) for a in about["args"])
            if about["type"] in ("error", "assert"):
                self.errors.append(f"console.{about['type']}: {words}")
            elif about["type"] == "warning":
                self.warnings.append(f"console.warn: {words}")
        elif method == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            thrown = details.get("exception", {})
            self.errors.append(f"exception: {thrown.get('description') or thrown.get('value') or details['text']}")
        elif method == "Log.entryAdded":
            entry = about["entry"]
            kept = {"error": self.errors, "warning": self.warnings}.get(entry["level"])
            if kept is not None:
                kept.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}".strip())
        elif method == "Network.requestWillBeSent":
            self.requested(about["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requested(about["url"])
        elif method == "Inspector.targetCrashed":
            self.errors.append("the page has crashed")

    def requested(self, address):
        own = self.address.split("#")[0]
        if address.split("#")[0] != own and not address.startswith(("data:", "blob:", "about:")):
            self.requests.append(address)


def look(browser, options):
    """Opens a page and returns the findings as a dictionary."""
    began = time.monotonic()
    address = Path(options.file).resolve().as_uri()
    findings = browser.on_event = Findings(browser, address)
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    findings.watch(session)

    def call(method, seconds=START_SECONDS, **parameters):
        return browser.call(method, session, seconds, **parameters)

    call("Page.enable")
    call("Emulation.setDeviceMetricsOverride", width=options.width, height=options.height,
         deviceScaleFactor=1, mobile=False)
    scheme = "dark" if options.dark else "light"
    call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    failed = call("Page.navigate", url=address).get("errorText")
    if failed:
        findings.errors.append(f"cannot open {address}: {failed}")
    browser.listen(options.wait, lambda: findings.is_loaded)
    if not findings.is_loaded:
        findings.errors.append(f"not loaded within {options.wait} s")

    held, last = False, None
    until = time.monotonic() + options.wait
    # tidy: allow Python's None
    while not (held or failed) and (last is None or time.monotonic() < until):
        answer = call("Runtime.evaluate", expression=options.expect, returnByValue=True, awaitPromise=True,
                      seconds=max(1, until - time.monotonic()))
        wrong = answer.get("exceptionDetails")
        last = wrong["exception"].get("description") if wrong else json.dumps(answer["result"].get("value"))
        held = not wrong and bool(answer["result"].get("value"))
        if not held:
            browser.listen(0.1)
    seconds = round(time.monotonic() - began, 2)
    if not held:
        findings.errors.append(f"never true within {options.wait} s: {options.expect} (last: {last})")
    browser.listen(SETTLE_SECONDS)

    size = call("Page.getLayoutMetrics")["cssContentSize"]
    width, height = max(1, round(size["width"])), max(1, round(size["height"]))
    found = {"file": str(options.file), "width": width, "height": height, "dark": options.dark,
             "expected": options.expect, "seconds": seconds}
    if options.picture:
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, TALLEST), "scale": 1}
        shot = call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        Path(options.picture).write_bytes(base64.b64decode(shot["data"]))
        found["picture"] = str(options.picture)
        if height > TALLEST:
            findings.warnings.append(f"the picture shows {TALLEST} of {height} pixels")
    if options.print:
        printed = call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        Path(options.print).write_bytes(base64.b64decode(printed["data"]))
        found["print"] = str(options.print)
    browser.call("Target.closeTarget", targetId=target)
    found |= {"errors": findings.errors, "requests": findings.requests, "warnings": findings.warnings}
    found["ok"] = not (findings.errors or findings.requests)
    return found


def arguments(line):
    parser = argparse.ArgumentParser(prog=".ci/browser")
    parser.add_argument("file", metavar="FILE.html")
    parser.add_argument("picture", metavar="OUT.png", nargs="?")
    parser.add_argument("width", metavar="WIDTH", nargs="?", type=int, default=1280)
    parser.add_argument("height", metavar="HEIGHT", nargs="?", type=int, default=800)
    parser.add_argument("--dark", action="store_true", help="emulate the dark colour scheme")
    parser.add_argument("--print", metavar="OUT.pdf", help="print the page as well")
    parser.add_argument("--expect", metavar="EXPRESSION", default="document.readyState === 'complete'")
    parser.add_argument("--wait", metavar="SECONDS", type=float, default=60)
    return parser.parse_intermixed_args(line)


# Name, body of the page, further arguments, and a part of the finding (None: no finding).
FIGURE = "<script>window.figuresWanted = 1; setTimeout(() => { window.figuresDrawn = 1; }, 200);</script>"
IS_DRAWN = ["--expect", "window.figuresDrawn === window.figuresWanted"]
WORKER = """<script>new Worker(URL.createObjectURL(new Blob(["%s"])));</script>"""
PAGES = [
    ("in order", FIGURE + "<svg><rect width='9' height='9'/></svg><p style='height:3000px'>tall</p>"
     "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA='>"
     "<script>fetch(URL.createObjectURL(new Blob(['x']))); console.warn('only a warning');</script>", IS_DRAWN, None),
    ("link inside", "<a id=a href='#b'>b</a><p id=b>b</p><script>a.click()</script>", [], None),
    ("dark", "", ["--dark", "--expect", "matchMedia('(prefers-color-scheme: dark)').matches"], None),
    ("light", "", ["--expect", "matchMedia('(prefers-color-scheme: dark)').matches"], "never true"),
    ("narrow", "", ["400", "700", "--expect", "innerWidth === 400 && innerHeight === 700"], None),
    ("missing figure", FIGURE.replace("Wanted = 1", "Wanted = 2"), IS_DRAWN, "never true"),
    ("expression that throws", "", ["--expect", "absent.value"], "absent is not defined"),
    ("console.error", "<script>console.error('broken', 7)</script>", [], "console.error: broken 7"),
    ("console.assert", "<script>console.assert(false, 'law')</script>", [], "console.assert: law"),
    ("exception", "<script>throw new Error('thrown')</script>", [], "Error: thrown"),
    ("late exception", "<script>setTimeout(() => none(), 100)</script>", [], "none is not defined"),
    ("rejection", "<script>Promise.reject(new Error('refused'))</script>", [], "Error: refused"),
    ("syntax", "<script>let = ;</script>", [], "SyntaxError"),
    ("fetch", "<script>fetch('http://example.org/a').catch(() => 0)</script>", [], "http://example.org/a"),
    ("fetch by number", "<script>fetch('http://127.0.0.1:9/b').catch(() => 0)</script>", [], "http://127.0.0.1:9/b"),
    ("picture", "<img src='https://example.org/c.png'>", [], "https://example.org/c.png"),
    ("style", "<style>@import 'https://example.org/d.css';</style>", [], "https://example.org/d.css"),
    ("another file", "<script src='absent.js'></script>", [], "absent.js"),
    ("socket", "<script>new WebSocket('ws://example.org/e')</script>", [], "ws://example.org/e"),
    ("worker in order", WORKER % "1 + 1", [], None),
    ("worker", WORKER % "fetch('http://example.org/f').catch(() => 0)", [], "http://example.org/f"),
    ("worker's exception", WORKER % "throw new Error('inside')", [], "Error: inside"),
]


def self_test():
    """Returns what is wrong if a page is not judged as expected."""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for at, (name, body, further, word) in enumerate(PAGES):
            page = Path(folder) / f"{at}.html"
            page.write_text(f"<!doctype html><meta charset=utf-8><title>{name}</title><body>{body}</body>")
            picture, printed = page.with_suffix(".png"), page.with_suffix(".pdf")
            # tidy: allow Python's None
            options = arguments([str(page), str(picture), *further, "--wait", "5" if word is None else "1",
                                 *(["--print", str(printed)] if at == 0 else [])])
            found = look(browser, options)
            told = "\n".join(found["errors"] + found["requests"])
            if found["ok"] != (word is None) or (word or "") not in told:  # tidy: allow Python's None
                return f"'{name}' should be {'in order' if word is None else 'found: ' + word}\n{json.dumps(found, indent=1)}"
            width, height = struct.unpack(">II", picture.read_bytes()[16:24])
            if (width, height) != (found["width"], found["height"]) or at == 0 and height < 3000:
                return f"'{name}': a picture of {width} x {height}, not of the whole page"
            if at == 0 and (not printed.read_bytes().startswith(b"%PDF") or not found["warnings"]):
                return f"'{name}': no PDF, or the warning was lost"
        missing = look(browser, arguments([f"{folder}/absent.html", "--wait", "1"]))
        if missing["ok"]:
            return "a missing file should be found"
    return None


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        wrong = self_test()
        print(f"self-test: {wrong or f'{len(PAGES) + 1} pages as expected'}")
        sys.exit(wrong is not None)
    options = arguments(sys.argv[1:])
    try:
        with Browser() as browser:
            found = look(browser, options)
    except Gone as gone:
        found = {"file": options.file, "errors": [str(gone)], "ok": False}
    print(json.dumps(found, indent=1))
    sys.exit(not found["ok"])
