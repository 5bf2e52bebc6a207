#!/usr/bin/env python3
"""Opens pages of tapes and walks through them: tape_page.py DIAMOND MODEL VALUES (exit codes: browser.py)"""
import sys

from browser import Browser, expect
from selenium.webdriver.common.keys import Keys


def text(browser, selector):
    return browser.run("return document.querySelector(arguments[0]).textContent", selector)


def row(browser, name, column):
    """What stands in the column of the first row of that name."""
    return browser.run("""const row = [...document.querySelectorAll("svg .row")].find(
        (row) => row.querySelector(".name").firstChild.data === arguments[0]);
        return row.querySelector("text." + arguments[1]).textContent""", name, column)


def edges(browser):
    return browser.run("return [...document.querySelectorAll('.edge.up, .edge.down')].map((edge) => edge.className.baseVal)")


def walk_diamond(browser, page):
    """a = x · x, b = x + a, loss = a · b at x = 3."""
    browser.open(page)
    expect("no step" not in text(browser, "#place") and row(browser, "x", "value") == "", "nothing is shown before the first step")
    browser.press(Keys.RIGHT)
    expect(row(browser, "multiply", "value") == "9" and row(browser, "x", "value") == "3", "→ shows x = 3 and x · x = 9")
    expect(edges(browser) == ["edge up", "edge up"], "both of its inputs lead up")
    expect("y = a · b" in text(browser, "#panel pre"), "the panel has its formula")
    browser.press(Keys.RIGHT + Keys.RIGHT)
    expect(row(browser, "add", "value") == "12", "b = 12")
    browser.press(Keys.RIGHT)
    expect("step 4 of 6: backward" in text(browser, "#place"), "the fourth step is backward")
    browser.press(Keys.RIGHT)
    expect(row(browser, "add", "gradient") == "9", "db = a = 9")
    expect(row(browser, "x", "gradient") == "1 of 3 parts", "x has one of its three parts")
    browser.press(Keys.RIGHT)
    expect(row(browser, "x", "gradient") == "135", "dx = 9 + 2 · 3 · 21 = 135")
    expect(edges(browser) == ["edge down", "edge down"], "the gradient goes down both edges of x · x")
    browser.press(Keys.LEFT)
    expect(row(browser, "x", "gradient") == "1 of 3 parts", "← takes it back")
    browser.press(Keys.HOME)
    expect(row(browser, "add", "value") == "", "Home is before the first op")
    browser.press(Keys.END)
    expect(row(browser, "x", "gradient") == "135", "End is the last step")
    browser.run("document.querySelectorAll('svg .op')[1].dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    expect("step 5 of 6" in text(browser, "#place"), "a click on an op, on the way back, goes to its backward")
    browser.press(Keys.HOME)
    browser.run("document.querySelector('#tape').click()")
    expect("step 1 of 6" in text(browser, "#place"), "a click beside the ops is one step")
    picture = browser.run("return tapePage.still()")
    expect(">135<" not in picture and ">9</text>" in picture and "var(" not in picture, "the picture of a step stands alone")


def walk_model(browser, page):
    browser.open(page)
    count = browser.run("return +document.getElementById('slider').max")
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        for place in (0, 3, count // 2 + 5, count):
            browser.run("tapePage.show(arguments[0])", place)
            wide = browser.run("return document.documentElement.scrollWidth")
            expect(wide <= 1280, f"{scheme}: step {place} of {count} fits the window: {wide}")
    unset = browser.run("return [...document.querySelectorAll('svg .row.source text.gradient')].filter((t) => /part/.test(t.textContent)).length")
    expect(unset == 0, "at the end every parameter's gradient is complete")
    boxes = browser.run("return [...document.querySelectorAll('svg .module')].map((t) => t.textContent)")
    expect("3" in boxes and "self_attn" in boxes, f"modules are boxes: {boxes[:8]}")
    browser.window(380, 800)
    wide = browser.run("return document.documentElement.scrollWidth")
    expect(wide <= 380, f"a window of 380 pixels needs no sideways scrolling: {wide}")
    browser.window(1280, 1000)


def walk_values(browser, page):
    browser.open(page)
    expect("values only" in text(browser, "#summary"), "a page from before backward says so")
    browser.press(Keys.END)
    expect("forward" in text(browser, "#place"), "and has no step of backward")


def main():
    with Browser() as browser:
        for walk, page in zip((walk_diamond, walk_model, walk_values), sys.argv[1:]):
            walk(browser, page)
        browser.expect_silence()


if __name__ == "__main__":
    main()
