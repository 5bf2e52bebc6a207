#!/usr/bin/env python3
"""Runs studies in the live chapter of a page and natively, and compares their bits: live_page.py PAGE DECAY_STUDY [FOLDER]
The program what_trains is beside DECAY_STUDY.

PAGE is of `isobar report --live`, of a run with the text's own setting and its claims. With FOLDER it leaves
pictures there, before, during and after a press. Exit codes: browser.py."""
import json
import pathlib
import subprocess
import tempfile

import typed_norms
from browser import expect, use
from selenium.webdriver.common.keys import Keys

SETTINGS = [
    {"depth": 5, "width": 64, "seeds": 4},
    {"depth": 100, "width": 48, "init": "default_nobias"},  # far below the smallest normal float
    {"depth": 40, "width": 96, "batch": 9, "init": "normal01"},  # beyond the largest
    {"depth": 3, "width": 50, "batch": 7, "norm": "layernorm", "loss": "mean"},
    {"depth": 4, "width": 33, "batch": 5, "norm": "rmsnorm", "order": "relu_norm", "loss": "random"},
    {"depth": 4, "width": 40, "norm": "batchnorm", "topology": "pre", "init": "he_normal"},
    {"depth": 4, "width": 40, "norm": "dyt", "topology": "post", "init": "xavier_uniform"},
    {"depth": 3, "width": 24, "norm": "stdnorm", "init": "orthogonal", "seed": 7},
    {"depth": 6, "width": 32, "topology": "skipinit", "init": "lecun_normal"},
    {"depth": 6, "width": 32, "topology": "fixup", "loss": "random"},
]


NETS = [  # norms by depths, and scales and rates at which a net does not learn, or diverges
    {},
    {"norm": "none", "depth": 2, "scale": 0.125, "rate": 2 ** -5},
    {"norm": "none", "depth": 16, "scale": 2, "rate": 2 ** -6},
    {"norm": "pre.rmsnorm", "depth": 2, "scale": 8, "rate": 2 ** -7},
    {"norm": "pre.rmsnorm", "depth": 12, "rate": 2 ** -9},
    {"norm": "post.layernorm", "depth": 2, "rate": 2 ** -8},
    {"norm": "post.layernorm", "depth": 10, "scale": 0.7, "rate": 2 ** -7},
    {"norm": "pre.dyt_sqrtd", "depth": 2, "rate": 2 ** -6},
    {"norm": "pre.dyt_sqrtd", "depth": 8, "scale": 1.5, "rate": 2 ** -8},
    {"norm": "fixup", "depth": 3, "scale": 4, "rate": 2 ** -9},
    {"norm": "fixup", "depth": 32, "rate": 2 ** -8},
    {"norm": "none", "depth": 8, "scale": 16, "rate": 2 ** -1},
]


def native_bits(program, setting, folder):
    flags = [f"--{name}={value}" for name, value in setting.items()]
    subprocess.run([program, *flags, "--out", folder, "--force"], check=True, stdout=subprocess.DEVNULL)
    return json.loads(pathlib.Path(folder, "summary.json").read_text())["bits"]


def press(browser, setting):
    """In the page, without its controls."""
    return browser.execute_async_script("""const [setting, done] = arguments;
        change({...textSetting, ...setting}); press().then((bits) => done(bits || live.error));""", setting)


def wait(browser, state):
    return browser.execute_async_script("""const [state, done] = arguments;
        const look = () => live.state === state ? done(true) : live.state === 'failed' ? done(false) : setTimeout(look, 5);
        look();""", state)


def compare_bits(browser, program):
    with tempfile.TemporaryDirectory() as folder:
        for setting in SETTINGS:
            setting = {"seeds": 2, **setting}
            wanted, got = native_bits(program, setting, folder), press(browser, setting)
            expect(got == wanted, f"{got} is native's {wanted}: {setting}")


def native_training(program, net):
    flags = ["--norm", net["norm"], "--depth", net["depth"], "--init_std", net["scale"] / 8, "--rate", net["rate"]]
    said = subprocess.run([program, "--on_page", "--task", "residual", *map(str, flags)], check=True, capture_output=True, text=True)
    return said.stdout.split("bits: ")[1].strip()


def train(browser, net):
    """In the page, without its controls: its bits, or why not, and the seconds."""
    return browser.execute_async_script("""const [net, done] = arguments;
        changeNet({...defaultNet, ...net});
        trainNet().then((bits) => done([bits || trainer.error, trainer.seconds]));""", net)


def compare_trainings(browser, program):
    """The bits of a page's trainings and those of the native program."""
    default, longest = browser.run("return defaultNet"), 0
    for net in NETS:
        (got, seconds), wanted = train(browser, net), native_training(program, {**default, **net})
        expect(got == wanted, f"{got} is native's {wanted}: {net}")
        longest = max(longest, seconds)
    print(f"      the longest of {len(NETS)} trainings took {longest:.2f} s")


def the_map(browser, picture):
    """A press, the native bits beside its own, the place on the map, and what is refused."""
    browser.run("""changeNet({...defaultNet}); document.getElementById('live-map').scrollIntoView({behavior: 'instant'});
        document.getElementById('live-map-press').focus()""")
    browser.press(Keys.ENTER)
    browser.execute_async_script("""const [done] = arguments;
        const look = () => trainer.state === 'running' ? setTimeout(look, 5) : done();
        look();""")
    own, stored, word = browser.run("""const line = document.getElementById('live-map-bits').parentElement;
        return [...line.querySelectorAll('code')].slice(0, 2).map((e) => e.textContent)
          .concat(line.querySelector('span').textContent)""")
    expect(own == stored and word == "the same in every bit", f"its bits {own} are those of the native training: {word}")
    stored = browser.run("return trainer.nets.map(({net, bits}) => [net, bits])")
    expect(all(len(bits) == 16 for _, bits in stored), "each net of a button has native bits")
    for net, bits in stored:
        expect(train(browser, net)[0] == bits, f"which are the page's: {net}")
    picture("map_trained")
    place = browser.run("""return [trainer.said.predicted, document.querySelectorAll('#live-map-place circle.here').length,
        document.querySelectorAll('#live-map-place path.predicted').length]""")
    expect(place[1:] == [2, 2] and place[0][0] < place[0][1], f"the net is on the map, with the predicted border: {place}")
    for wrong in ({"depth": 1000}, {"scale": 0}, {"rate": 100}, {"norm": "none such"}):
        said = train(browser, wrong)[0]
        expect(next(iter(wrong)) in said, f"{wrong} is refused: {said}")
    browser.run("changeNet({...defaultNet, depth: 32}); trainNet()")
    stopped = browser.run("""document.getElementById('live-map-press').click();
        return trainer.worker === null && trainer.state""")
    expect(stopped == "stopped", "Stop ends a training")


def without_relaxed_simd(browser):
    """As in a browser that has none: the module's own products."""
    expect(browser.run("return Boolean(live.code.relaxed)"), "products are by relaxed SIMD")
    bits = [press(browser, {"depth": 6, "width": 40, "seeds": 2})]
    trained = [train(browser, {"depth": 2})[0]]
    browser.run("live.whole = live.code; live.code = {...live.code, relaxed: null}; live.page = instanceOf(live.code)")
    bits.append(press(browser, {"depth": 6, "width": 40, "seeds": 2}))
    trained.append(train(browser, {"depth": 2})[0])
    browser.run("live.code = live.whole; live.page = instanceOf(live.code)")
    expect(len(bits[0]) == 16 and bits[0] == bits[1], f"without relaxed SIMD the bits are the same: {bits}")
    expect(len(trained[0]) == 16 and trained[0] == trained[1], f"and those of a training: {trained}")


WRONG = {"x +": 4, "(x": 3, "x x": 3, "w * foo(x)": 5, "mean x": 6, "sqrt()": 6, "x ^ 1.5": 5, "x ^ y": 5, "1 + 2": 1,
         "exp(1) * x": 1, "": 1, "x)": 2, "x / / w": 5, "tanh(x": 7, "x $ w": 3, "x\0\ny": 2, "mean(x)": 1, "sqrt(sum(x^2))": 1, "0x10 * x": 2, "x +" + " x +" * 20: 81}


def own_norms(browser):
    """A norm that a reader types: an RMSNorm as such, its gradient, and what is no formula."""
    small = {"depth": 5, "width": 32, "seeds": 3}
    medians = "return JSON.parse(live.page.call('table')).flatMap((row) => [row[0][0], row[2][0]])"
    press(browser, {**small, "norm": "rmsnorm"})
    library = browser.run(medians)
    press(browser, {**small, "norm": "formula", "formula": "w * x / (mean(x^2) + 0.00001)^0.5"})
    typed = browser.run(medians)
    apart = max(abs(a / b - 1) for a, b in zip(typed, library))
    expect(apart < 1e-4, f"a typed RMSNorm is the library's: {apart:.1e} apart")
    error, header = browser.run("return [live.own.error, live.own.header]")
    expect(error < 1e-8 and "mean(pow(x, 2), {-1}, true)" in header, f"its gradient is that of differences, {error:.1e} apart")
    beside = browser.run("""const rows = JSON.parse(live.beside.call('table'));
        return [rows.flatMap((row) => [row[0][0], row[2][0]]), document.getElementById('live-std').textContent]""")
    expect(beside[0] == library and "RMSNorm" in beside[1], "the library's stands beside it, drawn and named")
    for source, formula, normalized in typed_norms.NORMS:
        sample = browser.run("return JSON.parse(live.page.call('formula', arguments[0])).sample", formula)
        apart = typed_norms.error_of(sample, formula, normalized)
        expect(len(formula) <= 80 and apart < 1e-6, f"{source}, {formula}: {apart:.1e} apart")
    for text, place in WRONG.items():
        browser.run("live.setting = {...textSetting, norm: 'formula', formula: arguments[0]}; begin()", text)
        said = browser.run("return live.error")
        expect(said.startswith(f"at {place}: ") and "\n" not in said, f"{text[:20]!r}: {said}")


def press_default(browser, picture):
    browser.run("change({...textSetting}); document.getElementById('live').scrollIntoView({behavior: 'instant'});")
    picture("before")
    browser.run("document.getElementById('live-press').focus()")
    browser.press(Keys.ENTER)
    browser.execute_async_script("""const [done] = arguments;
        const look = () => live.done > 2 || live.state !== 'running' ? done() : setTimeout(look, 5);
        look();""")
    picture("during")
    expect(wait(browser, "finished"), "the enter key runs the text's own net")
    seconds, threads = browser.run("return [live.seconds, live.threads]")
    print(f"      20 seeds of 8 layers of 512 took {seconds:.2f} s on {threads} threads")
    own, stored, word = browser.run("""const line = document.getElementById('live-bits').parentElement;
        return [...line.querySelectorAll('code, span')].map((e) => e.textContent)""")
    expect(own == stored and word == "the same in every bit", f"its bits {own} are those of the stored run: {word}")
    pairs = browser.run("""return [...document.querySelectorAll('#live-verdicts tbody tr')].map((row) =>
        [row.cells[0], ...row.querySelectorAll('.badge')].map((e) => e.textContent))""")
    expect(len(pairs) > 3 and all(live == page for _, live, page in pairs), f"so are the verdicts: {pairs}")
    picture("after")


def type_depth(browser):
    browser.run("change({...textSetting, width: 16, seeds: 3}); document.getElementById('live-depth').select()")
    browser.press("3" + Keys.ENTER)
    expect(wait(browser, "finished"), "a depth and the enter key run that depth")
    shown = browser.run("return [live.setting.depth, location.hash]")
    expect(shown[0] == 3 and "depth=3" in shown[1], f"the address has it: {shown}")


def stop(browser):
    browser.run("change({...textSetting, depth: 200}); press();")
    expect(browser.execute_async_script("""const [done] = arguments;
        setTimeout(() => done(live.state === 'running'), 300);"""), "200 layers run")
    ms = browser.run("""const began = performance.now();
        document.getElementById('live-press').click();
        return live.workers === null && live.state === 'stopped' ? performance.now() - began : 1e9;""")
    expect(ms <= 300, f"Stop takes {ms:.0f} ms")


def links_and_errors(browser, page):
    browser.get(pathlib.Path(page).resolve().as_uri() + "#live?norm=rmsnorm&depth=3&width=16&seeds=2")
    browser.execute_async_script("live.ready.then(arguments[0])")
    shown = browser.run("return ['norm', 'depth', 'width'].map((name) => document.getElementById('live-' + name).value)")
    expect(shown == ["rmsnorm", "3", "16"], f"a link carries its setting: {shown}")
    browser.run("location.hash = '#live-map?norm=fixup&depth=4&scale=2&rate=0.0078125'")
    shown = browser.execute_async_script("""const [done] = arguments;
        setTimeout(() => done(['norm', 'depth', 'scale', 'rate'].map((name) => document.getElementById('live-map-' + name).value)), 100)""")
    expect(shown == ["fixup", "4", "2", "0.0078125"], f"and one to the map: {shown}")
    said = press(browser, {"depth": 100000})
    expect("depth" in said and browser.run("return document.querySelector('#live [role=alert]').textContent") != "",
           f"a depth beyond the module's memory is refused: {said}")
    said = press(browser, {"norm": "no such norm"})
    expect("norm" in said, f"so is a norm that nobody knows: {said}")


def in_every_look(browser, picture):
    for lang in ("zh", "en"):
        browser.run(f"speak('{lang}')")
        for scheme in ("dark", "light"):
            browser.prefer(scheme)
            for width in (380, 1280):
                browser.window(width, 1000)
                browser.run("document.getElementById('live').scrollIntoView({behavior: 'instant'})")
                browser.execute_async_script("setTimeout(arguments[0], 100)")
                wide = browser.run("return document.documentElement.scrollWidth")
                expect(wide <= width, f"in {lang}, {scheme}, {width} pixels need no sideways scrolling: {wide}")
                picture(f"{lang}_{scheme}_{width}")
                browser.run("document.getElementById('live-map').scrollIntoView({behavior: 'instant'})")
                picture(f"map_{lang}_{scheme}_{width}")


def walk(browser, page, program, *folder):
    def picture(name):
        if folder:
            browser.save_screenshot(str(pathlib.Path(folder[0], f"live_{name}.png")))
    browser.prefer("light")
    browser.open(page)
    browser.execute_async_script("trainer.ready.then(arguments[0])")
    expect(not browser.run("return live.error || trainer.error"), "the module is loaded")
    compare_bits(browser, program)
    compare_trainings(browser, pathlib.Path(program).with_name("what_trains"))
    the_map(browser, picture)
    without_relaxed_simd(browser)
    own_norms(browser)
    press_default(browser, picture)
    in_every_look(browser, picture)
    type_depth(browser)
    stop(browser)
    links_and_errors(browser, page)
    browser.expect_silence()


if __name__ == "__main__":
    use(walk)
