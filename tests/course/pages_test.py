#!/usr/bin/env python3
"""pages_test.py SOURCE: every handout becomes a printable page with its pictures inside and no formula left as TeX. Exit 77
(skipped) where there is no pandoc."""
import pathlib, re, shutil, subprocess, sys, tempfile

if not shutil.which("pandoc"):
    print("skipped: no pandoc")
    sys.exit(77)

course = pathlib.Path(sys.argv[1]) / "experiments/course"
with tempfile.TemporaryDirectory() as folder:
    for handout in sorted(course.glob("a*/handout.md")):
        name, out = handout.parent.name, pathlib.Path(folder) / "page.html"
        subprocess.run([course / "course", "page", name, "--out", out], check=True)
        text = re.sub(r"(?s)<(code|annotation|style)\b.*?</\1>", "", out.read_text())
        pictures = re.findall(r'<img[^>]* src="([^"]*)', text)
        assert len(pictures) == handout.read_text().count("\n![") and all(p.startswith("data:") for p in pictures), f"{name}: a picture is missing"
        assert "$" not in text and "\\frac" not in text, f"{name}: a formula is left as TeX"
        assert "<!--" not in text.partition("<body>")[2], f"{name}: a comment tells how a number is computed"
        print(f"{name}: {len(pictures)} pictures, {text.count('<math')} formulas")
