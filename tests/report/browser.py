# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over the DevTools protocol with nothing but the
standard library: commands and events are JSON texts on two pipes."""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The browser's path, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    """One browser with one page; everything it says is kept in `events`."""

    def __init__(self, path, deadline=60):
        self.deadline = deadline
        self.folder = tempfile.mkdtemp(prefix="paceline-page-")
        to_browser, self.out = os.pipe()
        self.inp, from_browser = os.pipe()

        def place_pipes():
            # The protocol's places are the descriptors 3 and 4.  Moved out of
            # the way first, since either may be the other's place.
            read, write = os.dup(to_browser), os.dup(from_browser)
            high_read, high_write = os.dup2(read, 103), os.dup2(write, 104)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        flags = ["--headless", "--remote-debugging-pipe", "--disable-gpu", "--hide-scrollbars",
                 "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                 "--disable-extensions", "--user-data-dir=" + self.folder]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium's own rejects root
        self.process = subprocess.Popen(
            [path, *flags, "about:blank"], close_fds=False, preexec_fn=place_pipes,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.events, self.number, self.session = b"", [], 0, None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(domain + ".enable")

    def close(self):
        for end in (self.out, self.inp):
            os.close(end)  # the browser ends with its pipe
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _message(self, until):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.inp], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError(f"the browser said nothing for {self.deadline} s")
            data = os.read(self.inp, 1 << 16)
            if not data:
                raise RuntimeError("the browser ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self.deadline
        while True:
            answer = self._message(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        until = time.monotonic() + self.deadline
        while True:
            for event in self.events:
                if event.get("method") == method:
                    return event
            self.events.append(self._message(until))

    def run(self, script):
        """The value of a JavaScript expression."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def open(self, path, width=1280, height=900, scheme="light"):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.send("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self.wait_for("Page.loadEventFired")
        # One frame later, everything that the page does by itself is done.
        self.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")

    def complaints(self):
        """Whatever the page has said on its console, and its exceptions."""
        found = []
        for event in self.events:
            kind, params = event.get("method"), event.get("params", {})
            if kind == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                found.append(details.get("exception", {}).get("description") or details["text"])
            elif kind == "Log.entryAdded":
                found.append(params["entry"]["text"])
            elif kind == "Runtime.consoleAPICalled":
                found.append(" ".join(str(a.get("value")) for a in params["args"]))
        return found

    def requests(self):
        """The addresses that the page has asked for, its own file apart."""
        asked = [e["params"]["request"]["url"] for e in self.events
                 if e.get("method") == "Network.requestWillBeSent"]
        return asked[1:]

    def screenshot(self, path, whole=True):
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        image = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole,
                          **({"clip": {"x": 0, "y": 0, "width": size["width"],
                                       "height": size["height"], "scale": 1}} if whole else {}))
        pathlib.Path(path).write_bytes(base64.b64decode(image["data"]))


def flaws_of(page, scheme):
    """What every page must not have: wrong colors, parts beyond its window, complaints on the
    console, requests."""
    flaws = []
    dark = page.run("getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'")
    if dark != (scheme == "dark"):
        flaws.append(f"the page is {'dark' if dark else 'light'}")
    overflow = page.run("document.documentElement.scrollWidth - innerWidth")
    if overflow > 0:
        flaws.append(f"{overflow} pixels wider than its window")
    flaws += ["console: " + words for words in page.complaints()]
    flaws += ["asked for " + address for address in page.requests()]
    return flaws
