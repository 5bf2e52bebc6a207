"""The references' answers have the same bits under g++ and clang++, with 1 and 2 threads."""
import course


def test_bits_are_the_same_under_both_compilers_with_1_and_2_threads(name, assignment, prefix, folder):
    course.release(assignment, folder / "tree")
    (folder / f"tree/{name}.cpp").write_text(assignment.source.read_text())
    answers = set()
    for compiler in ("g++", "clang++"):
        build = course.built(folder / "tree", prefix, f"-DCMAKE_CXX_COMPILER={compiler}",
                             into=folder / compiler)
        answers |= {course.answered(build / "driver", assignment.driven(), threads) for threads in (1, 2)}
    assert len(answers) == 1 and len(answers.pop()) == len(assignment.driven())
