"""Makes a student's tree of the one marked source: bodies are stubs that name their task, and neither a solution nor a hidden
test is in it. --student and the term's key draw the numbers of the written questions."""
import course, questions

WORDS = {"folder": dict(metavar="DIR"),
         "--student": dict(metavar="NAME", default="",
                           help="for whom the questions are drawn (default: an example)")}


def main(arguments):
    if arguments.student and not arguments.student.isprintable() or len(arguments.student) > 100:
        raise course.Usage("wanted a student's name of one line, at most 100 characters")
    course.release(arguments.assignment, arguments.folder, arguments.student, arguments.key)
    if arguments.student and not questions.questions(arguments.name, arguments.student):
        print(f"{arguments.name} has no written questions: this tree is the same for every student")
    print(f"{arguments.folder}: read README.md and handout.md, write {arguments.name}.cpp, run ./check")
