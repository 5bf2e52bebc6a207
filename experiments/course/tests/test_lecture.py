"""What the first lecture says of a text and of a0 is found, without a browser, and none of its words lacks a value but those
of the tape's pictures."""
import re
import course, slides


def test_the_values_of_the_slides_are_there(prefix, folder):
    found = slides.of_the_text(prefix, folder) | slides.of_a0(prefix, folder)
    assert len(found["printed"]) == len(found["measured"]) == 8 and found["verdict"].startswith("D06 ")
    assert found["rows"].count("<tr>") == 8 and re.fullmatch(r"a0\.cpp:\d+, in moving_average", found["where"])
    assert f"{len(course.NAMES)}" == f"{slides.term().count('<tr>')}"
