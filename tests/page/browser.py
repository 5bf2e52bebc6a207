"""Headless Chromium, without a network, by Selenium: real key presses, pictures, print.

A script that uses pages prints what it saw; the first thing that is not as it should be ends it with exit
code 1. Exit code 77: chromium, chromedriver or python3-selenium is not installed."""
import base64
import pathlib
import shutil
import sys

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    print("skipped: python3-selenium is not installed")
    sys.exit(77)
if not (shutil.which("chromedriver") and shutil.which("chromium")):
    print("skipped: chromium and chromedriver are not installed")
    sys.exit(77)

PATIENCE = 300  # seconds, for machines with much else to do


def expect(true, what):
    print(("ok    " if true else "WRONG ") + what, flush=True)
    if not true:
        sys.exit(1)


class Browser(webdriver.Chrome):
    """To be used in a `with`, at whose end it is gone."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        # Without a process in reserve for the next page, and without pages kept for going back.
        for word in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND",
                     "--disable-features=SpareRendererForSitePerProcess,BackForwardCache"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        super().__init__(service=Service(shutil.which("chromedriver")), options=options)
        self.set_script_timeout(PATIENCE)
        self.set_page_load_timeout(PATIENCE)
        self.window(1280, 1000)

    run = webdriver.Chrome.execute_script

    def devtools(self, command, **parameters):
        return self.execute_cdp_cmd(command, parameters)

    def open(self, page):
        self.get(pathlib.Path(page).resolve().as_uri())

    def press(self, keys):
        webdriver.ActionChains(self).send_keys(keys).perform()

    def window(self, width, height):
        """The size of the page's window, in its own pixels."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        """As a machine set to "light" or "dark", and to no animations: each would be frames to wait for."""
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                              {"name": "prefers-reduced-motion", "value": "reduce"}])

    def printed(self):
        """The page as PDF, A4 in inches. WebDriver's own /print gives up after ten seconds, which a busy machine takes."""
        return base64.b64decode(self.devtools("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)["data"])

    def expect_silence(self):
        said = [entry["message"] for entry in self.get_log("browser")]
        expect(not said, f"the console is silent {said[:3]}")


def use(walk):
    """Calls walk(browser, WORD...) with the words of the command line."""
    with Browser() as browser:
        walk(browser, *sys.argv[1:])
