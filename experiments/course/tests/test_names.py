"""The driver's names are nobody's: a helper of a student's may have any. What an assignment does not offer is
refused: by name, by header, by text; in every assignment."""
import functools, pathlib, re, shutil, subprocess, tempfile
import pytest
import course, symbols
from conftest import assignment_of

IDENTIFIER = re.compile(r"_Z(?:T[ISV]|GV)?N?[VKRO]*(\d+)(\w+)")


def test_the_driver_defines_no_name_but_those_of_the_header(name, assignment, prefix, folder):
    tree = folder / name
    course.release(assignment, tree)
    driver = course.built(tree, prefix, target="calls") / "CMakeFiles/calls.dir/driver.cpp.o"
    listed = subprocess.run(["nm", "-P", "-g", "--defined-only", driver], capture_output=True, text=True, check=True)
    given = set(re.findall(r"\w+", "".join((tree / file).read_text() for file in (f"{name}.h", "tensors.h", "todo.h"))))
    mangled = [name for name, _ in symbols.listed(listed.stdout) if name.startswith("_Z")]
    own = {found[2][:int(found[1])] for found in map(IDENTIFIER.match, mangled) if found}
    assert len(mangled) > 100 and own - given - {"fmt", "isobar", "__gnu_cxx"} == set()


def test_a_helper_with_a_name_of_the_driver_costs_nothing(folder, graded):
    (folder / "a4.cpp").write_text((course.ROOT / "a4/a4.cpp").read_text() + """
struct Answer {
  std::vector<double> terms;
  double sum = 0;
};
struct Request {
  std::string call_[7];
};
double serve(const Answer& answer, const Request&) { return Answer(answer).sum; }
""")
    assert graded("a4", folder)["score"] == 100


OFFERED = {"a0": [], "a4": ["add"], "a8": ["Rng"]}


@pytest.mark.parametrize("allowed", OFFERED.values(), ids=OFFERED)
def test_what_a_template_of_the_kernels_leaves_in_an_object_file_is_refused(allowed):
    kernel, lambdas = "_ZNK6isobar7kernels12NormBackwardIdEclEv", "_ZN6isobar7kernels18pointwise_backwardIdZ1fvEUlT_E_EEvl"
    for line, bad in [(f"{kernel} W 0", ["isobar::kernels::NormBackward"]),
                      (f"{lambdas} t 0", ["isobar::kernels::pointwise_backward"]),
                      ("_ZNK6isobar12WarmupCosineclEl W 0", ["isobar::WarmupCosine"]),
                      ("_ZN6isobar7kernelsL4helpEv t 0", ["isobar::kernels::help"]),
                      ("_ZZNK6isobar7kernels3Exp5valueEvE1x u 0", ["isobar::kernels::Exp::value"]),
                      ("_ZNK6isobar6Tensor5shapeEv W 0", []), ("_ZN6isobar5checkIJEEEvbPKc W 0", [])]:
        assert symbols.refused([line], "", allowed) == bad
    assert symbols.refused([f"{kernel} W 0"], "", None) == []


def test_a_definition_of_what_the_library_defines_is_refused():
    allocate, softmax = "_ZN6isobar6memory8allocateEm", "_ZN6isobar7softmaxERKNS_6TensorE"
    for kind in ("T 0", "W 0", "C 8"):
        assert symbols.refused([f"{allocate} {kind}"], f"{allocate} T 0", None) == ["isobar::memory::allocate"]
        assert symbols.refused([f"{softmax} {kind}"], f"{softmax} T 0", ["add"]) == ["isobar::softmax"]
    assert symbols.refused(["_ZN6isobar6TensorD1Ev W 0"], "_ZN6isobar6TensorD1Ev W 0", []) == []


def test_a_specialization_of_what_the_driver_uses_is_refused():
    check, push = "_ZN6isobar5checkIJRKlEEEvbN3fmt2v9IcEE", "_ZNSt6vectorIdSaIdEE9push_backERKd"
    for name, said in [(check, "isobar::check"), (push, push), ("_ZN3fmt2v97vformatEv", "_ZN3fmt2v97vformatEv")]:
        assert symbols.refused([f"{name} T 0"], "", None) == [said]
        assert symbols.refused([f"{name} W 0"], "", None) == []
    assert symbols.refused(["_Z4meanRKN6isobar6TensorE T 0", "_ZN4MineC1ESt6vectorIdE T 0", "_ZTV4Mine D 0"], "", []) == []


def test_definitions_of_the_run_time_and_calls_of_a_sanitizer_are_refused():
    for name in ("malloc", "free", "posix_memalign", "aligned_alloc", "memcpy", "abort", "_exit", "_Znwm", "_ZdlPvm",
                 "_ZnwmSt11align_val_t", "__asan_default_options", "__asan_init"):
        assert symbols.refused([f"{name} T 0"], "", None) == ([name] if name != "__asan_init" else []), name
    for name in ("__asan_unpoison_memory_region", "__asan_set_error_report_callback", "__sanitizer_set_death_callback"):
        assert symbols.refused([f"{name} U"], "", []) == [name]
    for name in ("__asan_report_load8", "__ubsan_handle_add_overflow_abort", "__asan_stack_malloc_3", "malloc"):
        assert symbols.refused([f"{name} U"], "", []) == []
    for name in ("pthread_create", "stdin", "getchar", "fgets", "scanf", "_ZSt3cin", "_ZSt4wcin", "_ZNSt6threadD1Ev"):
        assert symbols.refused([f"{name} U"], "", None) == [name]
    for name in ("pthread_mutex_lock", "sscanf", "_ZSt4cout", "_ZNSt5mutex4lockEv"):
        assert symbols.refused([f"{name} U"], "", []) == []
    for name in ("_ZnwmPv", "_ZdlPvS_", "DW.ref.__gxx_personality_v0"):  # of every object file
        assert symbols.refused([f"{name} W 0"], "", []) == []


@pytest.mark.parametrize("path", ["isobar/core/kernels/norm.h", "isobar/core/../core/./kernels/dual.h",
                                  "isobar/autograd/pointwise.h"])
def test_headers_that_hold_answers_are_refused_however_the_path_is_written(path):
    deps = f"x.o: #deps 2, deps mtime 1 (VALID)\n    /usr/include/c++/12/vector\n    /opt/include/{path}\n"
    found = symbols.refused_headers(symbols.read_for(deps), [], lambda pattern, paths: [])
    assert len(found) == 1 and found[0].endswith(path.split("/")[-1])
    assert not symbols.refused_headers(symbols.read_for(deps), None, lambda pattern, paths: [])


def test_a_header_with_a_macro_that_hides_code_from_sanitizers_is_refused(folder):
    macro = folder / "macro.h"
    macro.write_text("#define HIDDEN __attribute__((no_sanitize_address))\n")
    search = lambda pattern, paths: [path for path in paths if re.search(pattern, open(path).read())]
    assert symbols.refused_headers([str(macro)], None, search) == ["macro.h"]


def test_fmt_may_hide_code_from_sanitizers_where_it_came_with_the_library(folder):
    search = lambda pattern, paths: paths
    for prefix, wanted in (("/autograder/source/prefix", []), ("/usr", ["format.h"])):
        path = "/autograder/source/prefix/include/fmt/format.h"
        assert symbols.refused_headers([path], None, search, prefix) == wanted
    assert symbols.refused_headers(["/autograder/source/prefix/include/other.h"], None, search, "/autograder/source/prefix") == ["other.h"]


COMPILERS = [compiler for compiler in ("g++", "clang++") if shutil.which(compiler)]


@functools.cache
def seen(text):
    """What each compiler sees of a source."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "t.cpp"
        source.write_text(text)
        return [subprocess.run([compiler, "-std=gnu++20", "-w", "-E", "-dD", source], capture_output=True, text=True).stdout
                for compiler in COMPILERS]


def refused(text, forbidden):
    """What is refused of it; by all compilers the same."""
    found = {tuple(symbols.refused_texts(text, [one], forbidden)) for one in seen(text)}
    assert len(found) == 1, (text, found)
    return found.pop()


@pytest.mark.parametrize("text", [
    "__attribute__((no_sanitize_address)) void f();", "[[gnu::no_sanitize(\"undefined\")]] void f();",
    "[[clang::disable_sanitizer_instrumentation]] void f();", "[[gnu::no_sani\\\ntize_address]] void f();",
    "void __asan_unpoison_stack_memory(long, long);", "#define JOIN(a, b) a##b", "# /* x */ define J(a, b) a /*\n*/ ## b",
    "%:define J(a, b) a %:%: b", "void f() asm(\"g\");", "int f() __attribute__((weakref(\"g\")));",
    "[[gnu::section(\".data.q,\\\"aw\\\"\\n.text\")]] int z = 1;", "#define PLACE __section__", "int f() __attribute__((alias(\"g\")));",
    "__attribute__((section // c\n(\"x\"))) int z = 1; const char* t = R\"(x)\";", "#ident \"a\"", "#sccs \"a\"", "# /* */ ident \"a\"",
    "#pragma clang attribute push", "#pragma redefine_extname f g", "#define P _Pragma(\"once\")",
    "_Pragma(\"clang attribute push\")", "_Pragma(\"weak f\") int a;", "# 1 \"/usr/include/vector\" 1 3\nint a;",
    "/*\n*/ # /* */ 1 /*\n*/ \"vector\" 1 3\nint a;", "%:\\\n 2 \"vector\" 2\nint a;",
    "#include <sys/cdefs.h>\n#define _GLIBCXX_BEGIN_NAMESPACE_VERSION __CONCAT(no_sani, tize)\n#include <vector>",
    "#include <sys/cdefs.h>\n[[gnu::__CONCAT(no_sani, tize)(\"address\")]] void f();",
    "#if 0\n' /*\n#endif\n[[gnu::no_sanitize(\"address\")]] void f();\n#if 0\n' */\n#endif",
    "#pragma x ' /*\n*/\n[[gnu::no_sanitize(\"address\")]] void f(); // '", "#pragma x R\"(\nvoid f() asm(\"g\"); // )\"",
    "void f() { stdout->_fileno = 3; }"])
def test_what_hides_code_is_refused_in_every_assignment(text):
    for name in course.NAMES:
        assert refused(f"int a;\n{text}\nint b;\n", assignment_of(name).forbidden), name


@pytest.mark.parametrize("text", [
    "double f(const double* p) { return _mm256_maskload_pd(p, m)[0]; }", "int i = __builtin_ia32_gatherdiv4df(a, p, i, m, 8);",
    "double __attribute__((address_space(256)))* p;"])
def test_what_reads_unseen_is_refused_where_hidden_tests_are_watched(text):
    assert [name for name in course.NAMES if refused(text, assignment_of(name).forbidden)] == ["a0"]


def test_honest_texts_are_not_refused(assignment):
    for text in (*assignment.solutions().values(), "// ## The sum\n// AddressSanitizer found this one, at an overflow",
                 "#define SQUARE(x) ((x) * (x))\n// a ## b", "#pragma once\n", "#include <sanitizer>",
                 "// The section on means (below)\nint section = 3, alias = section;",
                 "// The matrix \"R\" of section (3.2); no asm is needed\n// # 1 \"The sum\" 1",
                 "float f(__m256 x) { return _mm256_cvtss_f32(_mm256_mul_ps(x, _mm256_loadu_ps(p))); }",
                 "/* one */\n/* two */ int a;\n/* # three */" + 60 * "\n/* */", "#if 0\n' asm it's\n#endif\nint f(int x) { return x; }", "#define LARGE INT64_C(5)\n#include <cstdint>\nlong a = LARGE;",
                 "#include <cassert>\n#include <vector>\nvoid f(int x) { assert(x); }", "#line 7 \"asm\"\nint a;",
                 "// asm is not used, /* nor */ weakref\n/* no_sanitize\n ######## _Pragma */ int a = 1'000;",
                 'const char* const said = "asm \\"volatile\\" ## __asan_ no_sanitize"; char c = \'"\';',
                 'const char* const said = R"x(asm)" ##\n#pragma clang\n__asan_)x";'):
        assert not refused(text, assignment.forbidden), text


def test_the_words_that_a9_refuses_may_stand_in_comments_and_texts():
    forbidden = assignment_of("a9").forbidden
    for text in ("#pragma once\n// the target; optimize this ######## _Pragma\n", "/* #pragma GCC target */",
                 'const char* t = "target, optimize, ##";'):
        assert not refused(text, forbidden), text
    for text in ("int target = 1;", "#pragma GCC once\n", "// a comment\\\n that goes on\n#pragma GCC x\n"):
        assert refused(text, forbidden), text


@pytest.mark.parametrize("hidden", [
    "int a = 1'0 + '\"'; {} char b = '\"';", "const char* a = \"/*\"; {} const char* b = \"*/\";", "char a = '\\'', b = '\"'; {} char c = '\"';",
    "const char* a = R\"x(\")x\"; {} // \"", "const char* a = u8R\"(/*)\"; {} /* */", "int a = 0x1'f; {} // '", "#error don't\n{} // '",
    "char a = '/*'; {} char b = '*/';", "/* // */ {}", "// /*\n{} // */", "const char* a = \"\\\\\"; {} // \"", "/\\\n* */ {}",
    "auto $R = $R\"(\"; {} auto b = \")\";", "auto a\u0301R = a\u0301R\"(\"; {} auto b = \")\";", "int a = 1R\"(\"; {} auto b = \")\";",
    "#define A '\n{}\n#define B '", "#define A R\"(x)\"\n{}\nauto b = A;"])
def test_code_is_not_taken_for_a_comment_or_a_text(hidden):
    for code in ("__asm(\"\");", "void __asan_unpoison_stack_memory(long, long);"):
        assert refused(hidden.replace("{}", code), symbols.FORBIDDEN), hidden


def test_a_versioned_name_is_another_name():
    assert symbols.refused(["exp@GLIBC_2.29 U", "exp U"], "", []) == ["exp@GLIBC_2.29"]


def test_complex_numbers_are_refused_but_where_all_of_the_library_is_offered(name, assignment):
    for symbol in ("_ZNSt7complexIdEmLIdEERS0_RKS_IT_E", "_ZSt3expIdESt7complexIT_ERKS2_", "__muldc3", "__divsc3", "cexp", "csqrtf"):
        line = f"{symbol} W 0" if symbol.startswith("_Z") else f"{symbol} U"
        said = symbols.refused([line], "", assignment.allowed)
        assert said == (["complex numbers"] if assignment.allowed is not None else []), symbol


def test_a_refusal_says_why_and_what_to_do():
    assert symbols.refused(["signal D 0", "getenv U"], "", []) == ["getenv", "signal"]
    for names, texts, said in [
            (["getenv", "signal"], [], "getenv, signal: a name of C or of the run-time, which may not be called; a function or "
             "variable of yours with such a name needs another one, or an unnamed namespace around it."),
            (["complex numbers"], [], "a gradient by a complex step is not derived; compute with real numbers."),
            (["isobar::softmax"], [], "only what the handout lists may be used: write the others yourself."),
            ([], ["asm"], "asm: it stands in the source, outside of comments and texts; do without")]:
        assert said in symbols.repairs(names, texts) and symbols.repairs(names, texts).count(". ") == 0
    assert symbols.repairs([], []) == ""


def test_the_grader_says_why_a_name_is_refused(folder, graded):
    (folder / "a4.cpp").write_text((course.ROOT / "a4/a4.cpp").read_text() + "\ndouble signal = 1;  // asm is a word\n")
    said = graded("a4", folder)["output"]
    assert said.startswith("uses what a4 does not offer: signal\nsignal: a name of C")
