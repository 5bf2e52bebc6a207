#!/usr/bin/env python3
"""Opens reports and uses them: report_page.py PAGE... (exit codes: browser.py)

A page of more than a hundred claims is printed where ISOBAR_THOROUGH is set: it takes long, and the rules are those of
a page of ten."""
import os
import pathlib
import re

from browser import expect, use
from selenium.webdriver.common.keys import Keys

LOOK = pathlib.Path(__file__).with_name("report_look.js").read_text(encoding="utf-8")


def look(browser, what, *arguments):
    """One of the functions of report_look.js, in the page."""
    return browser.run(f"return look.{what}(...arguments)", *arguments)


def open_page(browser, page):
    browser.open(page)
    browser.run(LOOK)
    look(browser, "settle")


def open_all(browser):
    for _ in range(3):  # what opens has more to open in it
        count = look(browser, "openAll")
        look(browser, "settle")
    return count


def tab_to(browser, wanted):
    for _ in range(60):
        if look(browser, "focus") == wanted:
            return
        browser.press(Keys.TAB)
    expect(False, f"the tab key reaches {wanted}")


def find_claim(browser, id):
    """Search, chart and command of a claim, by keys alone; in the language the page is in."""
    browser.press("/")
    expect(look(browser, "focus") == "search", "the key / goes to the search")
    browser.press(id)
    expect(look(browser, "claims") == [f"claim-{id}"] and not look(browser, "beside"), f"typing {id} leaves that claim alone")
    browser.press(Keys.ENTER)
    look(browser, "settle")
    *place, small, large, parts = look(browser, "claim")
    expect(place == [f"claim-{id}", True, True], "the enter key opens it, in the window")
    expect(browser.run("return location.hash") == f"#claim-{id}", "the address names it")
    expect(small == 1 and large > 0 and parts > 1, f"it has a small chart, {large} large and {parts} parts")
    for _ in range(3):
        browser.press(Keys.TAB)
        if command := look(browser, "command"):
            break
    expect(re.search(rf"isobar verify --claim {id}( --full)?$", command), f"the tab key goes to its command: {command}")
    copy = look(browser, "focus")
    browser.press(Keys.ENTER)
    look(browser, "settle")
    expect(look(browser, "focus") != copy, f"the button '{copy}' copies it")
    browser.press(Keys.TAB + Keys.TAB)
    browser.press(Keys.RIGHT)
    said = look(browser, "reading")
    expect(re.search(r"\d", said), f"arrow keys read the chart: {said[:60]}")
    browser.press("/")
    browser.press(Keys.BACKSPACE * len(id))


def write_numbers(browser):
    """As a reader of any field reads them; and what the search finds."""
    for value, wanted in {"number(0.33868)": "0.3387", "number('inf')": "∞", "plain(1e-10)": "10⁻¹⁰",
                          "found('post-norm needs warm-up', 'warmup')": True,
                          "found('post-norm needs warm-up', 'warm up post norm')": True,
                          "found('post-norm needs warm-up', 'pre-norm')": False,
                          "phrase('1000 layers: not learned needs --full')": "needs --full"}.items():
        got = browser.run(f"return {value}")
        expect(got == wanted, f"{value} is {got}")


def turn_bounds(browser):
    """Where the interval that decides would give another word; and whether it gives the words that the tool gave."""
    part = lambda rule, bounds, interval, outcome: (
        f"{{rule: '{rule}', bounds: {bounds}, interval: {interval}, outcome: '{outcome}'}}")
    for asked, wanted in {part("mean", ["-inf", 0.1], [0.9, 1.4], "does not hold"): [0.1, 0.9],
                          part("every_seed", ["-inf", 0.1], [0.05, 1.4], "does not hold"): [0.1, 1.4],
                          part("mean", [0.4, 0.6], [0.57, 0.59], "holds"): [0.6, 0.59],
                          part("mean", [-0.05, 0.05], [0.9, 1.1], "does not hold"): [0.05, 0.9],
                          part("time", [1.1, "inf"], [1, 1.12], "open"): [1.1, 1.12],
                          part("mean", [0, "inf"], [0.2, "inf"], "holds"): None,
                          part("one_more_seed", [2, 2], [1, 3], "holds"): None}.items():
        got = browser.run(f"return turningPoint({asked})")
        expect(got == wanted, f"{asked} turns at {got}")
    part = "{rule: 'mean', bounds: ['-inf', 1], interval: [0.2, 0.25], outcome: 'holds'}"
    turns = "with a bound of 0.25 instead of 1 (÷ 4) the outcome would change"
    for quote, wanted in {"k is small": turns, "k < 1": "", "k < 1.5": turns}.items():
        got = browser.run("return turnText({ quote: arguments[0] }, %s)" % part, quote)
        expect(got == wanted, f"of '{quote}' the page says '{got}'")
    other = browser.run("""return data.claims.flatMap((claim) => claim.parts).filter((part) => part.outcome && part.word !== "better" && !part.settings
        && part.interval?.every(finite) && !/one_more_seed/.test(part.rule) && !part.outcome !== 'open'
        && outcomeAt(part.rule, [finite(part.bounds[0]) ? part.bounds[0] : -Infinity, finite(part.bounds[1]) ? part.bounds[1] : Infinity],
                     part.interval) !== part.outcome).map((part) => part.key)""")
    expect(not other, f"the page reads intervals as the tool does {other[:3]}")


def set_formulas(browser):
    for tex, wanted in {r"\\frac{1}{\\sqrt{d}}x_i^2y_j": "mrow(mfrac(mrow(mn)mrow(msqrt(mrow(mi))))msubsup(mimimn)msub(mimi))", r"\\odd{x}": None}.items():
        got = browser.run("const shape = (e) => e.localName + (e.children.length ? `(${[...e.children].map(shape).join('')})` : '');"
                          f"const formula = typeset('{tex}'); return formula && shape(formula.firstChild)")
        expect(got == wanted, f"{tex} is {got}")
    got = browser.run("return withFormulas('$\\\\rho$ costs $5 or $6').map((piece) => piece.textContent ?? piece).join('')")
    expect(got == "ρ costs $5 or $6", f"a text with dollars is {got}")
    raw = browser.run(r"return data.claims.flatMap((claim) => withFormulas(claim.quote)).filter((piece) => /\\[a-z]{2}/i.test(piece))")
    expect(not raw, f"no quotation is left in LaTeX {raw[:2]}")


def look_through(browser):
    """The order of the rows, the identities, the classes of verdicts, the navigation."""
    ranks = ["bad", "half", "good", "read", "plain", "open"]
    order = [[ranks.index(kind) for kind in chapter] for chapter in look(browser, "order")]
    expect(any(order) and all(chapter == sorted(chapter) for chapter in order), "what does not hold comes first, what is not judged last")
    folds, identities = look(browser, "folded")
    texts = browser.run("return data.claims.filter((claim) => claim.how === 'proof' && claim.verdict === 'true').map((claim) => claim.source.slice(0, 3))")
    expect(folds == len(set(texts)) and identities == len(texts), f"{identities} identities are folded into {folds} lines")
    grey = browser.run("return [...document.querySelectorAll('.chip.open')].map((chip) => chip.dataset.verdict)")
    expect(grey in ([], ["not tested"], ["still to come"], ["not tested", "still to come"]), f"grey is {grey} alone")
    unused = browser.run("""return data.claims.filter((claim) => claim.kept && isUndecided(claim.verdict)
        && !document.querySelector(`#claim-${claim.id} .verdict .badge`).textContent.startsWith(word(claim.kept.verdict)))
        .map((claim) => claim.id)""")
    expect(not unused, f"what this run could not judge has the verdict of the kept full run {unused[:3]}")
    lost, missing = look(browser, "contents")
    expect(not lost and not missing, "the navigation leads to each text and each run that was named")


def use_claims(browser):
    everything = len(look(browser, "claims"))
    expect(everything > 0, f"{everything} claims are shown")
    cells = browser.run("return [...document.querySelectorAll('#claim-D06 .cell')].map((cell) => cell.textContent)")
    expect("printed 0.000012" in cells and any(re.match(r"measured [1-9].*\[", cell) for cell in cells),
           f"the row shows what is printed and measured: {cells[3:5]}")
    find_claim(browser, "D06")
    tab_to(browser, "zh")
    browser.press(Keys.SPACE)
    look(browser, "settle")
    title = browser.run("return document.querySelector('h1').textContent + document.documentElement.lang")
    expect(title == "印出的数值，哪些是真的？zh", "the page speaks Chinese")
    find_claim(browser, "D06")
    part = browser.run("return document.querySelector('#claim-D06').parentElement.querySelector('.part').textContent")
    expect(re.search("(?s)第 1 层.*印出的数值来自一次运行.*个种子.*不成立", part), f"so does a part: {part[:60]}")
    english = look(browser, "english")
    expect(not english, f"no sentence of the page stays English {english[:3]}")
    tab_to(browser, "en")
    browser.press(Keys.SPACE)

    browser.press("/")
    browser.press("0.4156")
    found = look(browser, "claims")
    expect("claim-D01" in found and len(found) < everything, f"a printed value finds its claim: {found}")
    browser.press(Keys.BACKSPACE * 6)
    tab_to(browser, "theme")
    before = look(browser, "ground")
    browser.press(Keys.SPACE + Keys.SPACE)
    expect(look(browser, "ground") != before, "the space bar makes the page dark")
    browser.press(Keys.SPACE)
    browser.run("document.querySelector('#filters button[data-verdict=false]').focus()")
    browser.press(Keys.SPACE)
    left = len(look(browser, "claims"))
    expect(0 < left < everything, f"the space bar on 'false' leaves {left} claims")
    browser.run("location.hash = '#D04'")
    look(browser, "settle")
    expect(look(browser, "focus") == "claim-D04" and len(look(browser, "claims")) == everything,
           "an address leads to a claim that was filtered out")
    browser.press(Keys.ENTER + Keys.ENTER)
    expect(browser.run("return location.hash") == "#claim-D04", "what is opened by a key is in the address")


def use_own(browser):
    """Claims of a reader's own file, which their commands name."""
    open_all(browser)
    commands = browser.run("return [...document.querySelectorAll('.command code')].map((code) => code.textContent)")
    files = browser.run("return Object.values(data.sources).map((source) => source.file)")
    named = [any(f" verify {file} --claim " in command for file in files) for command in commands]
    expect(commands and all(files) and all(named), f"commands name the file: {commands}")


def compare(browser):
    """Where the reader named runs of one study, they lie over each other."""
    names = browser.run("return [...(document.querySelector('.choice')?.children ?? [])].map((button) => button.textContent)")
    if not names:
        return
    shown = lambda: look(browser, "named")
    expect(len(names) > 1 and all(name in shown() for name in names), f"one chart has {' and '.join(names)}")
    browser.run("document.querySelector('.comparison button').focus()")
    browser.press(Keys.SPACE)
    expect(names[0] not in shown().split() and names[1] in shown(), f"the space bar hides {names[0]}")
    browser.press(Keys.SPACE)
    expect(names[0] in shown(), "and shows it again")


def look_over(browser):
    """Everything opened: ink, names, contrast in both themes, a phone."""
    details = open_all(browser)
    charts, empty = look(browser, "charts")
    some = browser.run("return data.claims.length + figures.length > 0")
    expect((charts > 0) == some and not empty, f"all {charts} charts have ink {empty[:3]}")
    nameless = look(browser, "nameless")
    expect(not nameless, f"every chart and control has a name {nameless[:3]}")
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        look(browser, "settle")
        faint = look(browser, "faint")
        expect(not faint, f"text on {scheme} ground has a contrast of 4.5 {faint[:6]}")
        charts, empty = look(browser, "charts")
        expect(not empty, f"so charts have ink {empty[:3]}")
    browser.window(380, 800)
    look(browser, "settle")
    wide, beyond = browser.run("return document.documentElement.scrollWidth"), look(browser, "beyond", 381)
    expect(wide <= 380, f"with {details} details open, 380 pixels need no sideways scrolling: {wide} {beyond}")
    browser.window(1280, 1000)


def use_norms(browser):
    """The table of norms, where the page has it: found from the top, folded, and as wide as a phone in its own box."""
    if not browser.run("return Boolean(norms)"):
        return
    link = browser.run("return document.querySelector('nav a[href=\"#norms\"]')?.textContent")
    folds, rows = browser.run("""const count = (selector) => document.querySelectorAll(`#norms ${selector}`).length;
        return [count("details:not([open])"), count("tbody [scope=row]")]""")
    expect(link == "Norms beside RMSNorm" and folds > 0 and rows > 2 * folds, f"'{link}' leads to {rows} rows in {folds} folds")
    look(browser, "openAll")
    browser.window(380, 800)
    look(browser, "settle")
    wide = browser.run("return [...document.querySelectorAll('#norms .wide')].map((box) => [box.clientWidth, box.scrollWidth])")
    expect(all(shown <= 380 < whole for shown, whole in wide), f"on a phone its tables scroll in their boxes: {wide}")
    browser.window(1280, 1000)
    browser.run("speak('zh')")
    look(browser, "settle")
    opened, said = browser.run("return [document.querySelectorAll('#norms details[open]').length, norms.innerText]")
    expect(opened == folds and "与 RMSNorm 相比的各种归一化" in said and "largest rate" not in said,
           "it stays open in Chinese, and speaks it")
    browser.run("speak('en')")


def print_out(browser, page):
    open_page(browser, page)
    pages = len(re.findall(rb"/Type\s*/Page\b", browser.printed()))
    claims, refuted = browser.run("return [data.claims.length, "
                                  "data.claims.filter((claim) => claim.verdict === 'false').map((claim) => `claim-${claim.id}`)]")
    expect(0 < pages <= max(4, 15 * claims / 140), f"it prints on {pages} pages, with {claims} claims")
    wanted = browser.run("return data.claims.length ? 0 : figures.filter((figure) => figure.dataset.run).length")
    browser.devtools("Emulation.setEmulatedMedia", media="print")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    look(browser, "settle")
    charts, empty = look(browser, "charts")
    runs, opened, chips = look(browser, "chartsOfRuns"), look(browser, "opened"), look(browser, "chips")
    browser.devtools("Emulation.setEmulatedMedia", media="")
    expect(runs == wanted and not empty, f"on paper are {runs} charts of runs, and {charts - runs} others {empty[:3]}")
    expect(sorted(opened) == sorted(refuted) and (chips > 0) == (claims > 0), f"opened is what is false: {opened}, with {chips} counts")


def walk(browser, *pages):
    for page in pages:
        print(page)
        browser.prefer("light")
        open_page(browser, page)
        claims, runs, some, own = browser.run("""return [data.claims.length, data.runs.length,
            data.claims.some((claim) => claim.id === 'D06'), Object.values(data.sources).some((source) => source.file)]""")
        if page == pages[0]:
            write_numbers(browser)
        turn_bounds(browser)
        set_formulas(browser)
        if claims > 1:
            look_through(browser)
        if own:
            use_own(browser)
            continue  # it looks and prints as those of the texts
        if runs and some:
            use_claims(browser)
        compare(browser)
        use_norms(browser)
        look_over(browser)
        if claims < 100 or os.environ.get("ISOBAR_THOROUGH"):
            print_out(browser, page)
    browser.expect_silence()


if __name__ == "__main__":
    use(walk)
