"""A real browser without a window, spoken to through two pipes (DevTools protocol); no port, no driver, no library."""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

PATIENCE_S = float(os.environ.get("JUDGE_TEST_PATIENCE_S", "60"))
"""How long something in a page is waited for."""

NAMES = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")

_KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "ArrowRight": (39, ""), "ArrowLeft": (37, "")}
"""Numbers and texts of keys that do something by themselves."""


def find_browser() -> str | None:
    """The first one that is installed."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class BrowserGoneError(Exception):
    """The browser has ended."""


class PageGoneError(Exception):
    """The page has gone to another one before it has answered."""


class NeverTrueError(Exception):
    """A condition was waited for in vain; with what the page says."""


MOST_LOADS = 5


class PageFailedError(Exception):
    """The page has thrown an exception, or the browser refused what it was asked for."""


_GONE = ("navigated", "context was destroyed", "Cannot find context", "Promise was collected")
"""What the browser says of a page that went to another one."""


class Browser:
    """One page of one browser. `errors` and `requests` are of all pages so far."""

    def __init__(self, program: str, profile: Path) -> None:
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        arguments = [
            program,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--hide-scrollbars",
            "--disable-background-networking",
            f"--user-data-dir={profile}",
            "--remote-debugging-pipe",
        ]
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", *arguments],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self._unread = b""
        self._number = 0
        self._session = ""
        self._is_scriptless = False
        self.errors: list[str] = []
        self._server = ""
        self.requests: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def close(self) -> None:
        """Ask it to end, so that it sees to its own processes."""
        self._session = ""
        with suppress(BrowserGoneError):  # it may be gone before it has answered
            self._call("Browser.close")
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def open(self, page: Path, fragment: str = "") -> None:
        """Open a file, and wait until it is loaded with all that it asks for."""
        self._call("Page.navigate", url="about:blank")
        self._call("Page.navigate", url=page.absolute().as_uri() + fragment)
        # Not by `wait_for`, which needs scripts: they may be blocked.
        while self.ask("document.readyState + location.protocol") != "completefile:":
            self._hear()

    def visit(self, url: str) -> None:
        """Open a page of a server, and wait until it is loaded with all that it asks for at once.

        It is loaded again if a network interface of the host changed, because the browser then drops requests.
        """
        for _ in range(MOST_LOADS):
            errors = len(self.errors)
            self._call("Page.navigate", url="about:blank")
            server = "/".join(url.split("/")[:3])
            if server != self._server:
                self._server = server
                self._call("Network.clearBrowserCache")  # another server may have had its port
            self._call("Page.navigate", url=url)
            self.wait_for("document.readyState == 'complete' && location.protocol.startsWith('http')")
            if not any("ERR_NETWORK_CHANGED" in error for error in self.errors[errors:]):
                return
            del self.errors[errors:]

    def trust_any_certificate(self) -> None:
        """Load pages of servers whose certificate no authority has signed."""
        self._call("Security.setIgnoreCertificateErrors", ignore=True)

    def leave(self) -> None:
        """Leave the page, whose server may end now, and forget all errors so far."""
        self._call("Page.navigate", url="about:blank")
        self._server = ""
        self.errors.clear()

    def wait_for(self, condition: str) -> Any:
        """Hear what happens until an expression in a parsed page is true; its value, for an element True.

        Fails with what the page says.
        """
        # A page that is still read may have the expected element but not the following ones.
        # An element would come as an empty dict, which is false.
        parsed = f"((found) => found instanceof Node || found)(document.readyState !== 'loading' && ({condition}))"
        deadline = time.monotonic() + PATIENCE_S
        while True:
            if time.monotonic() > deadline:
                raise NeverTrueError(f"{condition}\n{self.errors}\n{self._text()}")
            try:
                if value := self.ask(parsed):
                    return value
                if self._is_scriptless:
                    self._hear()  # timers of the page do not run
                else:
                    self.ask("new Promise((done) => setTimeout(done, 5))")
            except PageGoneError:
                continue  # the next page is asked

    def _text(self) -> str:
        """What a page shows that was waited for in vain."""
        with suppress(PageGoneError):
            return str(self.ask("`${location.href} ${document.readyState}\\n${document.body?.innerText}`"))[:3000]
        return "the page goes to another one"

    def run_first(self, script: str) -> None:
        """Run a script in every page from now on before anything else."""
        self._call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def set_hidden(self, hidden: bool) -> None:
        """As if another tab were in front."""
        state = "hidden" if hidden else "visible"
        self.ask(
            f"Object.defineProperty(document, 'hidden', {{configurable: true, get: () => {json.dumps(hidden)}}});"
            f"Object.defineProperty(document, 'visibilityState', {{configurable: true, get: () => '{state}'}});"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )

    def accessibility(self, *, whole: bool = False) -> list[Mapping[str, Any]]:
        """The nodes of the accessibility tree that are not ignored, or the whole tree."""
        self._call("Accessibility.enable")
        nodes = self._call("Accessibility.getFullAXTree")["nodes"]
        return [node for node in nodes if whole or not node["ignored"]]

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page; of a promise what it becomes."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise PageFailedError(str(answer))
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """A key goes down and up."""
        number, text = _KEYS.get(key, (0, ""))
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if text and kind == "keyDown" else {}
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=number, **typed)

    def choose(self, field: str, path: Path) -> None:
        """Choose a file, or a directory where the field takes one, as a person would in its dialog."""
        found = self._call("Runtime.evaluate", expression=f"document.getElementById({json.dumps(field)})")
        self._call("DOM.setFileInputFiles", files=[str(path)], objectId=found["result"]["objectId"])
        # The files of a directory are listed in the background.
        self.ask(f"""new Promise((resolve) => {{
          const field = document.getElementById({json.dumps(field)});
          if (field.files.length) resolve();
          else field.addEventListener("change", resolve, {{once: true}});
        }}).then(() => null)""")

    def set_view(self, width: int, dark: bool = False, media: str = "screen") -> None:
        """Make the window so wide, in a scheme of colours, for the screen or for print."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def block_scripts(self, blocked: bool) -> None:
        """As a careful reader has it."""
        self._call("Emulation.setScriptExecutionDisabled", value=blocked)
        self._is_scriptless = blocked

    def picture(self) -> bytes:
        """The whole page as PNG."""
        return self._picture()

    def small_picture(self, most_height: int, quality: int) -> bytes:
        """The upper part of the page as WebP."""
        width, height = self.ask("[innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, most_height), "scale": 1}
        return self._picture(format="webp", quality=quality, clip=clip)

    def _picture(self, **params: Any) -> bytes:
        return base64.b64decode(self._call("Page.captureScreenshot", captureBeyondViewport=True, **params)["data"])

    def _call(self, method: str, **params: Any) -> Mapping[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._hear()
            if answer.get("id") == self._number:
                if any(word in answer.get("error", {}).get("message", "") for word in _GONE):
                    raise PageGoneError(answer["error"]["message"])
                if "error" in answer:
                    raise PageFailedError(f"{method}: {answer}")
                result: Mapping[str, Any] = answer["result"]
                return result

    def _is_of_server(self, url: str) -> bool:
        return not url.startswith("http") or (self._server != "" and url.startswith(self._server))

    def _hear(self) -> Mapping[str, Any]:
        """The next message; errors and requests of a page are stored."""
        while b"\0" not in self._unread:
            if not select.select([self._from], [], [], 2 * PATIENCE_S)[0]:
                raise BrowserGoneError("the browser does not answer")
            data = os.read(self._from, 1 << 16)
            if not data:
                raise BrowserGoneError("the browser is gone")
            self._unread += data
        line, self._unread = self._unread.split(b"\0", 1)
        message: Mapping[str, Any] = json.loads(line)
        match message.get("method"):
            case "Log.entryAdded" if message["params"]["entry"]["level"] == "verbose":
                pass  # advice on markup, which only some builds of the browser give
            case "Log.entryAdded" if not self._is_of_server(message["params"]["entry"].get("url", "")):
                pass  # a late error of a page that was left
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded":
                self.errors.append(json.dumps(message["params"])[:500])
            case "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
        return message
