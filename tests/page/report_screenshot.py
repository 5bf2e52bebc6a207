#!/usr/bin/env python3
"""Makes README's pictures of a report, its first screen light and dark: report_screenshot.py PAGE FOLDER

    build/bin/isobar report --kept --live -o report.html
    tests/page/report_screenshot.py report.html experiments/page/figures

writes FOLDER/page_light.png and FOLDER/page_dark.png. Needs chromium, chromedriver and
python3-selenium, and a Chinese font (fonts-noto-cjk).
"""
import pathlib
import sys

from browser import Browser

SETTLE = "return new Promise((done) => setTimeout(done, 300))"  # until the charts have their size


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    page, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    with Browser() as browser:
        browser.window(1200, 1000)
        for scheme in ("light", "dark"):
            browser.prefer(scheme)
            browser.open(page)
            browser.run(SETTLE)
            path = folder / f"page_{scheme}.png"
            browser.save_screenshot(str(path))
            print(f"{path}: {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
