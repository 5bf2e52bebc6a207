// What is known of a header before a compiler sees it.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <fstream>

#include "../../experiments/duel/own_program.h"
#include "../message_of.h"
#include "../scoped_variable.h"
#include "../temporary_folder.h"

namespace isobar::own_norm_test {

using namespace duel;

TEST_CASE("a program is built in a folder of the user's cache that nobody else may write to") {
  const TemporaryFolder folder;
  const ScopedVariable cache("XDG_CACHE_HOME", folder / "cache");
  const std::string program = program_folder({{"a.h", "/from/a.h", "A"}}, "duel"),
                    all = folder / "cache/isobar/built";
  CHECK(program.starts_with(all + "/"));
  const auto refused = [&](const std::string& which) {
    return message_of([&] { take_program_folder(program); })
        .starts_with("wanted a folder of yours that nobody else may write to, but '" + which +
                     "' is not one");
  };
  take_program_folder(program);
  CHECK(std::filesystem::is_empty(program));
  CHECK(std::filesystem::status(program).permissions() == std::filesystem::perms::owner_all);
  folder.write(std::filesystem::relative(program, folder.path()) / "build/CMakeCache.txt", "what was built");
  take_program_folder(program);  // as it was
  CHECK(file_text(program + "/build/CMakeCache.txt") == "what was built");

  // Folders that others may write to, links and files: at the program's name, and above it.
  for (const std::string& which : {program, all, folder / "cache/isobar"}) {
    CAPTURE(which);
    CHECK(::chmod(which.c_str(), 0777) == 0);
    CHECK(refused(which));
    CHECK(::chmod(which.c_str(), 0700) == 0);
    std::filesystem::rename(which, folder / "elsewhere");
    std::filesystem::create_directory_symlink(folder / "elsewhere", which);
    CHECK(refused(which));
    std::filesystem::remove(which);
    std::ofstream(which) << "a file";
    CHECK(refused(which));
    std::filesystem::remove(which);
    std::filesystem::rename(folder / "elsewhere", which);
    take_program_folder(program);
  }
}

TEST_CASE("each choice of headers has a folder of its own, and without a cache there is none") {
  const TemporaryFolder folder;
  const OwnNorm a{"a.h", "/from/a.h", "A"};
  const auto of = [](const std::vector<OwnNorm>& norms) { return program_folder(norms, "duel"); };
  {
    const ScopedVariable cache("XDG_CACHE_HOME", folder / "cache");
    CHECK(of({a}) == of({a}));
    for (const OwnNorm& other :
         {OwnNorm{"b.h", a.path, a.type}, OwnNorm{a.header, "/b.h", a.type}, OwnNorm{a.header, a.path, "B"}})
      CHECK(of({other}) != of({a}));
    CHECK(of({a}) != program_folder({a}, "lm_norms"));
  }
  const ScopedVariable cache("XDG_CACHE_HOME", "relative"), home("HOME", folder / "home");
  CHECK(of({a}).starts_with(folder / "home/.cache/isobar/built/"));
  const ScopedVariable nowhere("HOME", std::nullopt);
  CHECK(message_of([&] { of({a}); }).starts_with("a header is compiled in your cache, and neither"));
}

TEST_CASE("the struct of a norm is found in its header") {
  CHECK(module_in("struct ISRU : isobar::Module {};", "isru.h") == "ISRU");
  CHECK(module_in("// struct A : Module {}\n#define B struct B : Module {\nclass C final : public Module {",
                  "a.h") == "C");
  CHECK(module_in("namespace a::b { namespace { struct C : isobar::Module { struct D : Module {}; }; } }",
                  "a.h") == "a::b::C");
  CHECK(module_in("const char* s = \"struct A : Module {\"; auto r = R\"x(struct B : Module {)x\";\n"
                  "char c = '{', q = '\\''; int n = 1'000; struct C : Options, isobar::Module {};",
                  "a.h") == "C");
  CHECK(module_in("struct Part : Module {}; struct MyNorm : Module { Part part; };", "in/my_norm.h") ==
        "MyNorm");
  CHECK(module_in("struct Options : Base {}; struct A : Module {};", "b.h") == "A");
  CHECK(module_in("struct Mine : isobar::RMSNorm { using RMSNorm::RMSNorm; };", "a.h") == "Mine");
  CHECK(module_in("template <int N> struct A : Module {}; struct B : A<2> {};", "b.h") == "B");
  CHECK(module_in("namespace x { using namespace isobar; struct A : Module {}; }", "b.h") == "x::A");

  const auto message = [](const char* text) { return message_of([&] { module_in(text, "my_norm.h"); }); };
  const std::string none =
      "my_norm.h: wanted a struct that derives from isobar::Module, found none; new_layer starts one, see new_layer "
      "--help";
  for (const char* text :
       {"", "int f();", "struct A {};", "struct A : ", "\"", "/*", "R\"(", "'", "{{{", "struct"})
    CHECK(message(text) == none);
  CHECK(
      message("struct A : Module {}; namespace n { struct B : Module {}; }") ==
      "my_norm.h: wanted one struct that derives from isobar::Module, found A and n::B; give the norm the name of "
      "the file");
  CHECK(message("template <class T> struct MyNorm : Module {};")
            .starts_with("my_norm.h: MyNorm is a template; "));
}

TEST_CASE("of two headers with one struct a program would have one: they are refused") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.h", "struct N : Module {};"),
                    b = folder.write("b.h", "struct N : Module {};"),
                    c = folder.write("c.h", "namespace c { struct N : Module {}; }");
  CHECK(message_of([&] {
          own_norms({a, b});
        }) == a + " and " + b + " both have a struct N, and a program one of a name; rename one");
  CHECK(own_norms({a, c, a}) == std::vector<OwnNorm>{{a, a, "N"}, {c, c, "c::N"}});
  CHECK(message_of([&] { own_norms({folder / "d.h"}); }).starts_with("there is no file '" + folder / "d.h'"));
}

}  // namespace isobar::own_norm_test
