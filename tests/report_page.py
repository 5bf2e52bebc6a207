#!/usr/bin/env python3
"""Opens a report in headless Chromium, without a network, and uses it: report_page.py PAGE [SCREENSHOT.png]

Drives Chromium by its WebDriver, with real key presses. Prints what it saw; the first thing that is not as it should
be ends it with exit code 1. Exit code 77: chromium or chromedriver is not installed.
"""
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request

TAB, SPACE, ENTER, BACKSPACE = "\ue004", " ", "\ue007", "\ue003"


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self.base = f"http://127.0.0.1:{found[1]}/session"
                break
        options = {"args": ["--headless=new", "--no-sandbox", "--window-size=1280,1600",
                            "--host-resolver-rules=MAP * ~NOTFOUND"],
                   "binary": shutil.which("chromium")}
        wanted = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        self.base += "/" + self.call("POST", "", {"capabilities": wanted})["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def run(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def press(self, keys):
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def console(self):
        return self.call("POST", "/se/log", {"type": "browser"})

    def close(self):
        self.call("DELETE", "")
        self.driver.terminate()


def expect(true, what):
    print(("ok    " if true else "WRONG ") + what)
    if not true:
        sys.exit(1)


def use(browser, page):
    browser.call("POST", "/url", {"url": pathlib.Path(page).resolve().as_uri()})
    rows = lambda: browser.run("return document.querySelectorAll('#claims tbody tr').length")
    focus = lambda: browser.run("return document.activeElement.textContent || document.activeElement.type")

    everything = rows()
    expect(everything > 0, f"{everything} claims are shown")
    charts = browser.run("return document.querySelectorAll('.chart').length")
    inked = browser.run("""return [...document.querySelectorAll('.chart')].filter(chart =>
        [...chart.querySelectorAll('canvas')].some(canvas =>
          canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(v => v > 0))).length""")
    expect(charts > 0 and inked == charts, f"{inked} of {charts} charts have ink")

    outside = browser.run("""return [...document.querySelectorAll('.chart canvas')].filter(canvas =>
        canvas.clientWidth > canvas.closest('figure').clientWidth).length""")
    expect(outside == 0, "no chart reaches out of its figure")

    while focus() != "search":  # by keyboard from the top of the page
        browser.press(TAB)
    browser.press("LayerNorm")
    found = rows()
    expect(0 < found < everything, f"typing 'LayerNorm' leaves {found} claims")
    browser.press(BACKSPACE * len("LayerNorm"))
    expect(rows() == everything, "deleting it brings them back")
    browser.press(TAB)
    while (pressed := focus()).endswith(" 0"):  # a verdict that no claim has
        browser.press(TAB)
    browser.press(SPACE)
    expect(rows() < everything, f"the space bar on '{pressed}' hides them: {rows()} left")
    browser.press(SPACE)
    expect(rows() == everything, "and shows them again")

    compare(browser)
    follow(browser)

    english = browser.run("return document.querySelector('#claims h2').textContent")
    browser.run("document.querySelector('button[data-lang=zh]').click()")
    chinese = browser.run("return document.querySelector('#claims h2').textContent + document.documentElement.lang")
    expect(english == "Claims" and chinese == "断言zh", "the page speaks English and Chinese")
    part = browser.run("return document.querySelector('#claim-D01 ~ .parts').textContent")
    expect(re.search("第 1 层.*实测.*要求.*可作为又一个种子的值.*印出的数值来自一次运行", part), f"so does a part: {part[:60]} …")
    browser.run("document.querySelector('button[data-lang=en]').click()")
    wide = browser.run("return document.documentElement.scrollWidth <= innerWidth")
    expect(wide, "the page is no wider than the window")
    errors = [entry["message"] for entry in browser.console() if entry["level"] in ("SEVERE", "WARNING")]
    expect(not errors, f"the console is silent {errors or ''}")


def compare(browser):
    """The page has blog8 and a second run of its study."""
    charts = browser.run("return document.querySelectorAll('.comparison .chart').length")
    expect(charts == 2, f"{charts} charts lay runs over each other")
    legend = lambda: browser.run("return document.querySelector('.comparison .legend').textContent")
    names = browser.run("return [...document.querySelectorAll('.comparison')[0].querySelectorAll('button')]"
                        ".map(button => button.textContent)")
    expect(len(names) == 2 and all(name in legend() for name in names), f"each shows {' and '.join(names)}")
    browser.run("document.querySelector('.comparison button').focus()")
    browser.press(SPACE)
    expect(names[0] not in legend().split() and names[1] in legend(), f"the space bar hides {names[0]}")
    browser.press(SPACE)
    expect(names[0] in legend(), "and shows it again")


def follow(browser):
    """From a claim to its chart and back, by keyboard."""
    browser.run("document.querySelector('#claim-D01').focus()")
    browser.press(ENTER + TAB + TAB + ENTER)  # past the address of the text
    place = lambda: browser.run("return location.hash")
    expect(place() == "#chart-blog8-std", f"claim D01 leads to its chart {place()}")
    links = browser.run("return [...document.querySelectorAll('#chart-blog8-std .links a')].map(a => a.textContent)")
    expect(links == ["D01", "D04"], f"the chart names its claims {links}")
    browser.run("document.querySelector('button.verdict[data-verdict=refuted]').click()")
    browser.run("document.querySelector('#chart-blog8-std .links a').focus()")
    browser.press(ENTER)
    focus = browser.run("const e = document.activeElement; return e.tagName + ' ' + e.id + ' ' + e.parentElement.open")
    expect(focus == "SUMMARY claim-D01 true" and place() == "#claim-D01", "the chart leads to a claim that was filtered out")


def main():
    if not (shutil.which("chromedriver") and shutil.which("chromium")):
        print("skipped: chromium and chromedriver are not installed")
        sys.exit(77)
    browser = Browser()
    try:
        use(browser, sys.argv[1])
        if len(sys.argv) > 2:
            height = browser.run("return document.documentElement.scrollHeight")
            browser.call("POST", "/window/rect", {"width": 1280, "height": min(height + 150, 12000)})
            pathlib.Path(sys.argv[2]).write_bytes(base64.b64decode(browser.call("GET", "/screenshot")))
    finally:
        browser.close()


if __name__ == "__main__":
    main()
