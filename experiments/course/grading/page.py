"""Makes a printable page of a handout: one HTML file, formulas and pictures inside. Needs pandoc."""
import re, shutil, subprocess, tempfile
import course, handouts

WORDS = {"--out": dict(metavar="FILE", help="default: aN.html")}
STYLE = """<style>
html { background: #fff; }
@page { size: A4; margin: 20mm 18mm; }
body { max-width: 174mm; margin: 8mm auto; padding: 0 4mm; font: 11pt/1.42 "DejaVu Serif", Georgia, serif; color: #1b1f24; background: #fff; }
h1, h2 { font-family: system-ui, "DejaVu Sans", sans-serif; line-height: 1.2; break-after: avoid; }
h1 { font-size: 19pt; } h2 { font-size: 13.5pt; margin-top: 1.6em; } header#title-block-header { display: none; }
table { border-collapse: collapse; margin: .8em 0; font-size: 9.5pt; width: auto; }
tr { break-inside: avoid; } thead { break-after: avoid; }
th, td { border-bottom: 1px solid #c9ced4; padding: .25em .7em .25em 0; text-align: left; vertical-align: top; }
code { font: 9pt "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; } pre { background: #f4f6f8; padding: .6em; white-space: pre-wrap; break-inside: avoid; }
img { max-width: 100%; max-height: 66mm; display: block; margin: .3em auto; } p:has(img) { margin: .4em 0; break-inside: avoid; }
img[alt*="step back"] { max-height: 92mm; }
math { font-size: 105%; }
@media print { body { margin: 0; padding: 0; max-width: none; font-size: 10pt; } }
</style>
"""


def main(arguments):
    name = arguments.name
    if not shutil.which("pandoc"):
        raise course.Usage("pandoc is not found; install the Debian package pandoc")
    folder = arguments.assignment.folder
    text = handouts.without_comments((folder / "handout.md").read_text())
    title = re.search(r"(?m)^# (.*)$", text)[1]
    with tempfile.NamedTemporaryFile("w", suffix=".html") as style:
        style.write(STYLE)
        style.flush()
        done = subprocess.run(
            ["pandoc", "--from", "markdown-implicit_figures+lists_without_preceding_blankline", "--to",
             "html5", "--mathml", "--self-contained", "--columns", "999", "--metadata", f"pagetitle={title}",
             "--metadata", "lang=en", "--include-in-header", style.name, "--resource-path", folder, "--out",
             arguments.out or f"{name}.html"], input=text.encode(), stderr=subprocess.PIPE)
    if done.returncode or b"[WARNING]" in done.stderr:
        raise course.Usage(f"pandoc: {done.stderr.decode(errors='replace').strip()}")
