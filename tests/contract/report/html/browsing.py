"""A browser to look at pages with: Chromium, told what to do by the DevTools protocol on a pipe."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.limits import DEADLOCK

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Starts the program in its arguments with the pipe's ends as descriptors 3 and 4.
_START = (
    "import fcntl, os, sys; "
    "ends = [fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3]]; "
    "[os.dup2(end, number) for end, number in zip(ends, (3, 4))]; "
    "os.execv(sys.argv[3], sys.argv[3:])"
)
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe"),
)


def executable() -> str:
    """Return the path of Chromium, a development dependency."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    assert found, "Chromium is missing, which shows reports to the tests: apt-get install chromium"
    return found


class Browser:
    """A running browser."""

    def __init__(self, profile: Path) -> None:
        theirs, self._to = os.pipe()
        self._from, back = os.pipe()
        command = [executable(), *_FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(theirs), str(back), *command],
            pass_fds=(theirs, back),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (theirs, back):
            os.close(end)
        self._rest = b""
        self._numbers = itertools.count(1)
        #: What it has told beside answers.
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Return the result of a protocol method."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def wait(self, method: str, session: str) -> None:
        """Wait for an event of a page."""
        while not any(e["method"] == method and e["sessionId"] == session for e in self._told()):
            self.events.append(self._next())

    def close(self) -> None:
        """End it."""
        self.call("Browser.close")
        self._process.wait(DEADLOCK)
        for end in (self._to, self._from):
            os.close(end)

    def _told(self) -> list[dict[str, Any]]:
        return [event for event in self.events if "sessionId" in event]

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + DEADLOCK
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], deadline - time.monotonic())
            assert ready, "the browser does not answer"
            part = os.read(self._from, 1 << 20)
            assert part, "the browser has ended"
            self._rest += part
        line, self._rest = self._rest.split(b"\0", 1)
        found: dict[str, Any] = json.loads(line)
        return found


class Tab:
    """A page that is shown."""

    def __init__(self, browser: Browser, path: Path, fragment: str = "", width: int = 1280) -> None:
        self._browser = browser
        self._target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(width, 900)
        self.address = path.as_uri()
        self.call("Page.navigate", url=self.address + fragment)
        browser.wait("Page.loadEventFired", self._session)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the result of a protocol method."""
        return self._browser.call(method, self._session, **parameters)

    def js(self, expression: str) -> Any:
        """The value of an expression in the page, after all that is due there has happened."""
        later = "new Promise(r => requestAnimationFrame(() => setTimeout(r)))"
        code = f"{later}.then(() => ({expression}))"
        result = self.call(
            "Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def go(self, fragment: str) -> None:
        """Follow a link within the page."""
        self.js(f"void (location.hash = {json.dumps(fragment)})")

    def click(self, selector: str) -> None:
        """Click in the middle of the first thing that fits."""
        find = f"document.querySelector({json.dumps(selector)})"
        box = self.js(f"({find}.scrollIntoView(), {find}.getBoundingClientRect().toJSON())")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str, text: str = "") -> None:
        """Press a key, which may write a text."""
        code = {"Tab": 9, "Enter": 13, "Escape": 27}.get(key, 0)
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                text=(text or ("\r" if key == "Enter" else "")) if kind == "keyDown" else "",
            )

    def write(self, text: str) -> None:
        """Write where the keyboard is."""
        self.call("Input.insertText", text=text)

    def size(self, width: int, height: int) -> None:
        """Give it another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def media(self, media: str = "", scheme: str = "light") -> None:
        """Show it as on paper, or in a dark place."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def picture(self, path: Path, whole: bool = False) -> None:
        """Save what is seen, or the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(data["data"]))

    @property
    def problems(self) -> list[str]:
        """Errors that the page has met, and what it has asked for besides itself."""
        own = [e for e in self._browser.events if e.get("sessionId") == self._session]
        return [text for event in own if (text := self._problem(event))]

    def forget(self) -> None:
        """Take the problems so far for what was meant to happen."""
        self._browser.events.clear()

    def _problem(self, event: dict[str, Any]) -> str:
        about = event["params"]
        if event["method"] == "Runtime.exceptionThrown":
            return str(about["exceptionDetails"])
        if event["method"] == "Log.entryAdded" and about["entry"]["level"] != "verbose":
            return str(about["entry"]["text"])
        if event["method"] == "Runtime.consoleAPICalled":
            return str(about["args"])
        if event["method"] == "Network.requestWillBeSent":
            url = str(about["request"]["url"])
            return "" if url.split("#", maxsplit=1)[0] == self.address else f"asked for {url}"
        return ""

    def close(self) -> None:
        """Close it."""
        self._browser.call("Target.closeTarget", targetId=self._target)
