// What is known of a header before a compiler sees it.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include "../../experiments/duel/own_program.h"
#include "../message_of.h"
#include "../scoped_variable.h"
#include "../temporary_folder.h"

namespace isobar::own_norm_test {

using namespace duel;

TEST_CASE("a program is built in a folder that this user made, and in no copy of one") {
  const TemporaryFolder folder;
  const ScopedVariable cache("XDG_CACHE_HOME", folder / "cache");
  const std::string program = folder / "run/.program", file = program + "/CMakeLists.txt",
                    heading = "# Written by isobar duel.\n", trap = "run/.program/build/CMakeCache.txt";
  const auto refused = [&] {
    return message_of([&] { take_program_folder(program); })
        .starts_with("'" + program + "' is there, and isobar did not make it for you");
  };
  take_program_folder(program);
  CHECK(std::filesystem::is_empty(program));
  folder.write("run/.program/CMakeLists.txt", heading);
  folder.write(trap, "what was built");
  take_program_folder(program);  // its own, as it was
  CHECK(file_text(folder / trap) == "what was built");

  // A copy at the same place, as an archive would bring it: what it holds is not believed.
  std::filesystem::copy(program, folder / "copy", std::filesystem::copy_options::recursive);
  std::filesystem::remove_all(program);
  std::filesystem::rename(folder / "copy", program);
  CHECK(std::filesystem::exists(folder / trap));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  take_program_folder(program);
  CHECK(std::filesystem::is_empty(program));

  // Folders that isobar did not make, links, and folders that others may write to.
  folder.write("run/.program/mine.txt", "mine");
  {
    const ScopedVariable other("XDG_CACHE_HOME", folder / "other");
    CHECK(refused());
    CHECK(file_text(folder / "run/.program/mine.txt") == "mine");
    std::filesystem::rename(program, folder / "elsewhere");
    std::filesystem::create_directory_symlink(folder / "elsewhere", program);
    folder.write("elsewhere/CMakeLists.txt", heading);
    CHECK(refused());
    CHECK(std::filesystem::exists(folder / "elsewhere/mine.txt"));
    std::filesystem::remove(program);
  }
  take_program_folder(program);
  folder.write("run/.program/CMakeLists.txt", heading);
  CHECK(::chmod(program.c_str(), 0777) == 0);
  CHECK(refused());
}

TEST_CASE("without a cache a program is built anew") {
  const TemporaryFolder folder;
  const ScopedVariable cache("XDG_CACHE_HOME", ""), home("HOME", "");
  for (int i = 0; i < 2; ++i) {
    take_program_folder(folder / ".program");
    CHECK(std::filesystem::is_empty(folder / ".program"));
    folder.write(".program/CMakeLists.txt", "# Written by isobar duel.\n");
  }
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
