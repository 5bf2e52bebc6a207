"""Headless Chromium, without a network, driven by its WebDriver: real key presses, pictures, print.

A script that uses pages prints what it saw; the first thing that is not as it should be ends it with exit
code 1. Exit code 77: chromium or chromedriver is not installed."""
import base64
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request

TAB, SPACE, ENTER, BACKSPACE = "\ue004", " ", "\ue007", "\ue003"
LEFT, RIGHT, HOME, END = "\ue012", "\ue014", "\ue011", "\ue010"
PATIENCE = 300  # seconds, for machines with much else to do


def expect(true, what):
    print(("ok    " if true else "WRONG ") + what, flush=True)
    if not true:
        sys.exit(1)


@contextlib.contextmanager
def browsing():
    if not (shutil.which("chromedriver") and shutil.which("chromium")):
        print("skipped: chromium and chromedriver are not installed")
        sys.exit(77)
    browser = Browser()
    try:
        browser.window(1280, 1000)
        yield browser
    finally:
        browser.close()


def expect_silence(browser):
    said = [entry["message"] for entry in browser.console()]
    expect(not said, f"the console is silent {said[:3]}")


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self.base = f"http://127.0.0.1:{found[1]}/session"
                break
        options = {"args": ["--headless=new", "--no-sandbox", "--window-size=1280,1000", "--hide-scrollbars",
                            "--host-resolver-rules=MAP * ~NOTFOUND"],
                   "binary": shutil.which("chromium")}
        wanted = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
                                  "timeouts": {"script": 1000 * PATIENCE, "pageLoad": 1000 * PATIENCE}}}
        self.base += "/" + self.call("POST", "", {"capabilities": wanted})["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, page):
        self.call("POST", "/url", {"url": pathlib.Path(page).resolve().as_uri()})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, keys):
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def window(self, width, height, scale=1):
        """The size of the page's window, in its own pixels."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def prefer(self, scheme):
        """As a machine set to "light" or "dark"."""
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self):
        return base64.b64decode(self.call("GET", "/screenshot"))

    def printed(self):
        """The page as PDF, A4 in inches. WebDriver's own /print gives up after ten seconds, which a busy machine takes."""
        return base64.b64decode(self.devtools("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)["data"])

    def console(self):
        return self.call("POST", "/se/log", {"type": "browser"})

    def close(self):
        self.call("DELETE", "")
        self.driver.terminate()
