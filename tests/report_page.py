#!/usr/bin/env python3
"""Opens a report in headless Chromium, without a network, and uses it: report_page.py PAGE...

Prints what it saw; the first thing that is not as it should be ends it with exit code 1. Exit code 77: chromium or
chromedriver is not installed.
"""
import re
import sys

from browser import BACKSPACE, ENTER, RIGHT, SPACE, TAB, Browser, installed

# Whether a mark of each chart is drawn: of some size, and of a colour that can be told from what is behind it.
INK = COLOURS = """
const parse = (text) => {
  const n = (text.match(/-?[\\d.e-]+/g) ?? []).map(Number);
  return text.startsWith("color(srgb") ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
};
const luminance = ([r, g, b]) => [r, g, b].map((v) => (v /= 255, v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
const ground = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const colour = parse(getComputedStyle(e).backgroundColor);
    if (colour[3] > 0.99) return colour;
  }
  return [255, 255, 255, 1];
};
"""
INK += """
const inked = (chart) => [...chart.querySelectorAll("path:not(.grid, .line, .rule, .leader), circle, rect")].some((mark) => {
  const box = mark.getBoundingClientRect(), style = getComputedStyle(mark);
  return box.width + box.height > 2 && [style.fill, style.stroke].some((c) => c !== "none" && contrast(parse(c), ground(chart.parentElement)) > 1.5);
});
const shown = [...document.querySelectorAll("svg.chart, svg.strip")].filter((chart) => chart.getBoundingClientRect().width > 0);
return [shown.length, shown.filter((chart) => !inked(chart)).map((chart) => chart.getAttribute("aria-label"))];
"""
FAINT = COLOURS + """
const faint = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const box = element.getBoundingClientRect();
  if (!own || !box.width || !element.checkVisibility()) continue;
  const style = getComputedStyle(element), colour = element instanceof SVGElement ? style.fill : style.color;
  const told = contrast(parse(colour), ground(element));
  if (told < 4.5) faint.push(`${element.tagName}.${element.className.baseVal ?? element.className} ${told.toFixed(2)}: ${element.textContent.slice(0, 40)}`);
}
const search = document.getElementById("search");
if (!search.hidden && contrast(parse(getComputedStyle(search, "::placeholder").color), ground(search)) < 4.5) faint.push("placeholder");
return faint;
"""
NAMELESS = """
const nameless = [...document.querySelectorAll("svg:not([aria-hidden])")].filter((s) => !s.getAttribute("aria-label") || s.getAttribute("role") !== "img");
const mute = [...document.querySelectorAll("button, input, a, summary")].filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label")));
return [...nameless, ...mute].map((e) => e.outerHTML.slice(0, 100));
"""
OPEN_ALL = "document.querySelectorAll('#page details').forEach((d) => { d.open = true; }); return document.querySelectorAll('#page details').length"
SETTLE = "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))"


def expect(true, what):
    print(("ok    " if true else "WRONG ") + what, flush=True)
    if not true:
        sys.exit(1)


def focus(browser):
    return browser.run("const e = document.activeElement; return e.id || e.dataset.lang || e.textContent")


def tab_to(browser, wanted, most=60):
    for _ in range(most):
        if focus(browser) == wanted:
            return
        browser.press(TAB)
    expect(False, f"the tab key reaches {wanted}")


def find_claim(browser, id):
    """Search, chart and command of a claim, by keys alone; in the language the page is in."""
    rows = lambda: browser.run("return [...document.querySelectorAll('details.claim:not([hidden]) > summary')].map((s) => s.id)")
    browser.press("/")
    expect(focus(browser) == "search", "the key / goes to the search")
    browser.press(id)
    expect(rows() == [f"claim-{id}"], f"typing {id} leaves that claim alone")
    browser.press(ENTER)
    browser.run(SETTLE)
    seen = browser.run("""const e = document.activeElement, row = e.closest("details"), box = e.getBoundingClientRect();
        return [e.id, row.open, box.top >= 0 && box.bottom <= innerHeight, row.querySelectorAll("summary svg").length,
                row.querySelectorAll(".body svg.chart").length, row.querySelectorAll(".part").length]""")
    expect(seen[:3] == [f"claim-{id}", True, True], f"the enter key opens it, in the window {seen[:3]}")
    expect(seen[3] == 1 and seen[4] > 0 and seen[5] > 1, f"it has a small chart, {seen[4]} large and {seen[5]} parts")
    for _ in range(3):
        browser.press(TAB)
        command = browser.run("return document.activeElement.closest('.command')?.querySelector('code').textContent ?? ''")
        if command:
            break
    expect(re.search(rf"isobar verify --claim {id}( --full)?$", command), f"the tab key goes to its command: {command}")
    copy = browser.run("return document.activeElement.textContent")
    browser.press(ENTER)
    browser.run(SETTLE)
    expect(browser.run("return document.activeElement.textContent") != copy, f"the button '{copy}' copies it")
    browser.press(TAB + TAB)
    browser.press(RIGHT)
    said = browser.run("return document.activeElement.querySelector('.reading')?.textContent ?? ''")
    expect(re.search(r"\d", said), f"arrow keys read the chart: {said[:60]}")
    browser.press("/")
    browser.press(BACKSPACE * len(id))


def write_numbers(browser):
    """As a reader of any field reads them."""
    said = browser.run("""return [number(0.33868), number(0.000012), number(3.766e-40), number(-1e-6), number(0), number("inf"), number(12345678.9),
        plain(0.123456), plain(1e-10), tickText(0.001), tickText(100000), tickText(1e-7)]""")
    wanted = ["0.3387", "0.000012", "3.766×10⁻⁴⁰", "−10⁻⁶", "0", "∞", "1.235×10⁷", "0.123456", "10⁻¹⁰", "0.001", "100000", "10⁻⁷"]
    expect(said == wanted, f"numbers are written without e: {said}")
    steps = browser.run("return [scale(1e-5, 2, 0, 1, true).ticks(5), scale(0.02, 1, 0, 1, true).ticks(5), scale(0, 8, 0, 1, false).ticks(5)]")
    expect(steps == [[1e-5, 1e-3, 0.1], [0.02, 0.05, 0.1, 0.2, 0.5, 1], [0, 2, 4, 6, 8]], f"ticks are round: {steps}")


def use_claims(browser):
    everything = browser.run("return document.querySelectorAll('details.claim').length")
    expect(everything > 0, f"{everything} claims are shown")
    cells = browser.run("""return [...document.querySelectorAll("#claim-D06 .cell")].map((c) => c.textContent)""")
    expect("printed 0.000012" in cells and any(re.match(r"measured [1-9].*\[", c) for c in cells), f"the row shows what is printed and measured: {cells[3:5]}")
    find_claim(browser, "D06")
    tab_to(browser, "zh")
    browser.press(SPACE)
    browser.run(SETTLE)
    chinese = browser.run("return document.querySelector('h1').textContent + document.documentElement.lang")
    expect(chinese == "印出的数值，哪些是真的？zh", "the page speaks Chinese")
    find_claim(browser, "D06")
    part = browser.run("return document.querySelector('#claim-D06').parentElement.querySelector('.part').textContent")
    expect(re.search("第 1 层.*印出的数值来自一次运行.*个种子.*不成立", part), f"so does a part: {part[:60]}")
    latin = browser.run("""return [...document.querySelectorAll(".prose, .badge, .chapter h2, .lead")].map((e) => e.textContent)
        .filter((text) => !/[\\u4e00-\\u9fff]/.test(text) && text.trim())""")
    expect(not latin, f"no word of the page stays English {latin[:3]}")
    tab_to(browser, "en")
    browser.press(SPACE)

    browser.press("/")
    browser.press("0.4156")
    found = browser.run("return [...document.querySelectorAll('details.claim:not([hidden]) > summary')].map((s) => s.id)")
    expect("claim-D01" in found and len(found) < everything, f"a printed value finds its claim: {found}")
    browser.press(BACKSPACE * 6)
    tab_to(browser, "theme")
    before = browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.press(SPACE + SPACE)
    expect(browser.run("return getComputedStyle(document.body).backgroundColor") != before, "the space bar makes the page dark")
    browser.press(SPACE)
    browser.run("document.querySelector('#filters button[data-verdict=refuted]').focus()")
    browser.press(SPACE)
    left = browser.run("return document.querySelectorAll('details.claim:not([hidden])').length")
    expect(0 < left < everything, f"the space bar on 'refuted' leaves {left} claims")
    browser.run("location.hash = '#claim-D01'")
    browser.run(SETTLE)
    expect(focus(browser) == "claim-D01", "a link leads to a claim")
    browser.run("document.querySelector('#filters button[data-verdict=refuted][aria-pressed=true]')?.click()")


def use_own(browser):
    """Claims of a reader's own file, which their commands name."""
    browser.run(OPEN_ALL)
    browser.run(SETTLE)
    commands = browser.run("return [...document.querySelectorAll('.command code')].map((code) => code.textContent)")
    files = browser.run("return Object.values(data.sources).map((source) => source.file)")
    named = [any(f" verify {file} --claim " in command for file in files) for command in commands]
    expect(commands and all(files) and all(named), f"commands name the file: {commands}")


def compare(browser):
    """Where the reader named runs of one study, they lie over each other."""
    names = browser.run("return [...document.querySelectorAll('.comparison')[0]?.querySelectorAll('.choice button') ?? []].map((b) => b.textContent)")
    if not names:
        return
    shown = lambda: browser.run("return document.querySelector('.comparison svg').textContent")
    expect(len(names) > 1 and all(name in shown() for name in names), f"one chart has {' and '.join(names)}")
    browser.run("document.querySelector('.comparison button').focus()")
    browser.press(SPACE)
    expect(names[0] not in shown().split() and names[1] in shown(), f"the space bar hides {names[0]}")
    browser.press(SPACE)
    expect(names[0] in shown(), "and shows it again")


def look(browser):
    """Everything opened: ink, names, contrast in both themes, a phone, paper."""
    for _ in range(3):  # what opens has more to open in it
        details = browser.run(OPEN_ALL)
        browser.run(SETTLE)
    charts, empty = browser.run(INK)
    some = browser.run("return data.claims.length + data.runs.reduce((n, run) => n + run.plots.length, 0) > 0")
    expect((charts > 0) == some and not empty, f"all {charts} charts have ink {empty[:3]}")
    nameless = browser.run(NAMELESS)
    expect(not nameless, f"every chart and control has a name {nameless[:3]}")
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        browser.run(SETTLE)
        faint = browser.run(FAINT)
        expect(not faint, f"text on {scheme} ground has a contrast of 4.5 {faint[:6]}")
        charts, empty = browser.run(INK)
        expect(not empty, f"so charts have ink {empty[:3]}")
    browser.window(380, 800)
    browser.run(SETTLE)
    wide = browser.run("return document.documentElement.scrollWidth")
    guilty = browser.run("""return [...document.querySelectorAll("#page *")].filter((e) => !e.closest(".wide, svg, nav") && e.getBoundingClientRect().right > 381)
        .slice(0, 3).map((e) => e.outerHTML.slice(0, 120))""")
    expect(wide <= 380, f"with {details} details open a phone of 380 pixels needs no sideways scrolling: {wide} {guilty}")
    browser.window(1280, 1000)


def print_out(browser, page):
    browser.open(page)
    wanted = browser.run("return data.runs.reduce((n, run) => n + run.plots.length + run.heatmaps.length + run.ridges.length, 0)")
    browser.devtools("Emulation.setEmulatedMedia", media="print")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    browser.run(SETTLE)
    charts, empty = browser.run(INK)
    runs = browser.run("return [...document.querySelectorAll('.run svg.chart, .study svg.chart')].filter((s) => s.getBoundingClientRect().width > 0).length")
    browser.devtools("Emulation.setEmulatedMedia", media="")
    expect(runs == wanted and not empty, f"on paper are all {runs} of {wanted} charts of the runs, and {charts - runs} others {empty[:3]}")
    browser.open(page)
    pages = len(re.findall(rb"/Type\s*/Page\b", browser.printed()))
    expect(pages > 0, f"it prints on {pages} pages")


def main():
    if not installed():
        print("skipped: chromium and chromedriver are not installed")
        sys.exit(77)
    browser = Browser()
    try:
        browser.window(1280, 1000)
        for page in sys.argv[1:]:
            print(page)
            browser.prefer("light")
            browser.open(page)
            browser.run(SETTLE)
            write_numbers(browser)
            if browser.run("return data.claims.some((claim) => claim.id === 'D06')"):
                use_claims(browser)
            elif browser.run("return data.claims.length"):
                use_own(browser)
            compare(browser)
            look(browser)
            print_out(browser, page)
        said = [entry["message"] for entry in browser.console()]
        expect(not said, f"the console is silent {said[:3]}")
    finally:
        browser.close()


if __name__ == "__main__":
    main()
