#!/usr/bin/env python3
"""Puts an attack in place of each text of finished runs and of a file of claims, in turn, and opens the page
and the pictures that isobar makes of them in headless Chromium: hostile_page.py ISOBAR CLAIMS.toml RUN...

No script of the attack may run, no element of it may appear, no link may lead but to a place in the page or
to the web, and no command that the page offers may have it but in quotes. What the tool refuses is as good.
Every sixth text is tried; with ISOBAR_THOROUGH set, each. Exit codes: browser.py."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from browser import expect, use
from report_page import LOOK

ATTACK = ("javascript:attacked=1//\"><x-attack></x-attack><script>attacked=1</script>' onload='attacked=1' x=\" "
          'onload="attacked=1')
STEP = 1 if os.environ.get("ISOBAR_THOROUGH") else 6
# What is wrong with the page: a script that ran, elements and attributes of the attack, links elsewhere.
FOUND = """const all = [...document.querySelectorAll("*")], wrong = [];
if (window.attacked) wrong.push("a script ran");
for (const e of all) for (const { name, value } of e.attributes) {
  const link = ["href", "xlink:href", "src", "action"].includes(name);
  const styled = name === "style" && value.includes("attack");
  if (name.startsWith("on") || styled || link && !/^(#|https?:\\/\\/)/.test(value))
    wrong.push(`${e.localName} ${name}=${value}`);
}
if (document.querySelector("x-attack")) wrong.push("an element was made");
for (const { textContent } of document.querySelectorAll(".command code"))  // but for what is in quotes
  if (textContent.replace(/'[^']*'|\\\\'/g, "").includes("attack")) wrong.push(`command ${textContent}`);
return wrong.slice(0, 3);"""


def changed(value, change, path=""):
    """A copy in which change(path, text) replaces each text and each name of free choice; of a list all are one path."""
    if isinstance(value, str):
        return change(path, value)
    if isinstance(value, list):
        return [changed(item, change, path + "[]") for item in value]
    if isinstance(value, dict):
        free = path in ("/config", "/environment", "/measured", "/counts")
        inner = {key: path + ("/*" if free else f"/{key}") for key in value}
        name = lambda key: change(path + "/name of *", key) if free else key
        return {name(key): changed(item, change, inner[key]) for key, item in value.items()}
    return value


class Attacks:
    def __init__(self, isobar, work, browser):
        self.isobar, self.work, self.browser = isobar, work, browser
        self.opened = self.refused = 0
        self.wrong = []

    def tool(self, *words):
        return subprocess.run([self.isobar, *words], capture_output=True, check=False).returncode == 0

    def open(self, what, page):
        self.opened += 1
        self.browser.open(page)
        if page.suffix == ".html":
            self.browser.run(LOOK)
            # On paper all is open.
            self.browser.run("dispatchEvent(new Event('beforeprint')); return look.settle()")
        if found := self.browser.run(FOUND):
            self.wrong.append(f"{what}: {found}")

    def report(self, what, run):
        page = self.work / "page.html"
        if self.tool("report", str(run), "-o", str(page)):
            self.open(what, page)
        else:
            self.refused += 1

    def picture(self, what, run):
        for plot in json.loads((run / "summary.json").read_text()).get("plots", [])[:1]:
            svg = self.work / "plot.svg"
            if self.tool("report", str(run), "--svg", plot.get("key", ""), "-o", str(svg)):
                self.open(what + ", as a picture", svg)

    def texts_of(self, run, seen):
        for file in sorted(run.rglob("summary.json")):
            summary, paths = json.loads(file.read_text()), []
            changed(summary, lambda path, text: paths.append(path) or text)
            for path in sorted(set(paths) - seen)[::STEP]:
                left = [paths.count(path)]  # the last of the kind alone: a plot's only curve of its role, say

                def change(at, text):
                    left[0] -= at == path
                    return ATTACK if at == path and left[0] == 0 else text
                file.write_text(json.dumps(changed(summary, change)))
                self.report(path, run)
                if path.startswith("/plots"):
                    self.picture(path, file.parent)
            seen |= set(paths)
            file.write_text(json.dumps(summary))

    def fields_of(self, claims):
        lines = claims.read_text().splitlines()
        for i in [i for i, line in enumerate(lines) if re.match(r'\w+ = "', line)][::STEP]:
            field = lines[i].split(" ")[0]
            new = [*lines[:i], f"{field} = {json.dumps(ATTACK)}", *lines[i + 1:]]
            file = self.work / "claims.toml"
            file.write_text("\n".join(new) + "\n")
            if self.tool("verify", str(file), "--out", str(self.work / "verified")):
                self.open(f"{field} of a file of claims", self.work / "verified/report.html")
            else:
                self.refused += 1


def walk(browser, isobar, claims, *runs):
    with tempfile.TemporaryDirectory() as folder:
        attacks = Attacks(isobar, pathlib.Path(folder), browser)
        seen = set()
        for i, run in enumerate(runs):
            attacks.texts_of(pathlib.Path(shutil.copytree(run, attacks.work / f"run{i}")), seen)
        attacks.fields_of(pathlib.Path(claims))
    expect(not attacks.wrong, "no attack is more than text: " + "; ".join(attacks.wrong))
    expect(attacks.opened >= 40 / STEP, f"{attacks.opened} pages were opened, {attacks.refused} refused")


if __name__ == "__main__":
    use(walk)
