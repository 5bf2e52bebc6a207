#!/usr/bin/env python3
"""Walks through the pages of report_test.cpp in one browser (exit codes: browser.py):
pages.py ISOBAR DECAY_STUDY LIVE_PAGE CLAIMS.toml RUN RUN PAGE..."""
import hostile_page
import live_page
import report_page
from browser import use


def walk(browser, isobar, decay_study, live, claims, run, other, *pages):
    report_page.walk(browser, *pages)
    live_page.walk(browser, live, decay_study)
    hostile_page.walk(browser, isobar, claims, run, other)


if __name__ == "__main__":
    use(walk)
