"""The slides of the first lecture fill 45 minutes, fit their frames, need no network, and no value is missing."""
import re, subprocess, sys
import course, slides, stills

MINUTES = {word: number for number, word in enumerate(("One", "Two", "Three", "Four"), 1)}


def test_slides_are_made_of_measured_values_and_fit(prefix, folder):
    page = folder / "slides.html"
    subprocess.run([sys.executable, course.ROOT / "course", "slides", "--prefix", prefix, "--out", page],
                   check=True)
    text = page.read_text()
    notes = re.findall(r"(?s)<aside>(.*?)</aside>", text)
    assert 12 <= len(notes) == text.count("<section>") <= 16
    assert sum(MINUTES[note.split()[0]] for note in notes) == 45
    assert "{{" not in text and not re.search(r"(?:src|href)=\"(?!data:)", text)
    assert all(f"<td>{value}</td>" in text for _, value in slides.printed_of("D01"))
    assert "<p>x is used three times: its parts add up to 135." in text  # 3x² + 4x³ at 3
    with stills.browsing() as window:
        window.window(1280, 720)
        window.open(page)
        assert window.run("""document.body.className = "notes";
            return [...document.querySelectorAll(".slide, aside")].filter(part => part.scrollHeight >
              part.clientHeight || part.scrollWidth > part.clientWidth).map(part => part.textContent)""") == []
