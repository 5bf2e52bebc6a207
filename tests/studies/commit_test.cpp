// The commit that programs write into their results: run/commit.cmake, run on a work tree of its own.
#include <doctest/doctest.h>

#include "../run.h"
#include "../skip.h"

namespace isobar::commit_test {

TEST_CASE("programs know the commit that they are built of, and whether its sources were changed") {
  if (run_command("git --version").code != 0) return skip("git is not installed");
  const TemporaryFolder folder;
  const auto shell = [&](const std::string& command) {
    const Outcome done = run_command(command, folder.path());
    REQUIRE_MESSAGE(done.code == 0, command, ": ", done.err);
    return done.out;
  };
  const auto commit_of = [&](const std::string& source) {
    shell("cmake -D SOURCE=" + (folder / source) + " -D OUTPUT=" + (folder / "commit.cpp") +
          " -P " ISOBAR_SOURCE_DIR "/experiments/run/commit.cmake");
    const std::string text = file_text(folder / "commit.cpp"), before = "return \"";
    const size_t at = text.find(before) + before.size();
    return text.substr(at, text.find('"', at) - at);
  };
  shell("mkdir tree tree/core tree/inside; touch CMakeLists.txt tree/core/a.cpp tree/README.md");
  CHECK(commit_of("tree") == "unknown");  // a tarball
  shell(
      "git init -q tree && cd tree && git add . && "
      "git -c user.name=a -c user.email=a@localhost commit -q -m one");
  const std::string commit = shell("git -C tree rev-parse --short=12 HEAD | tr -d '\\n'");
  CHECK(commit_of("tree") == commit);
  CHECK(commit_of("tree/inside") == "unknown");  // a tarball in another project's work tree
  shell("echo changed > tree/README.md");
  CHECK(commit_of("tree") == commit);
  shell("touch tree/core/b.cpp");  // CMake would find it
  CHECK(commit_of("tree") == commit + "+");
  shell("rm tree/core/b.cpp && echo changed > tree/core/a.cpp");
  CHECK(commit_of("tree") == commit + "+");
  const std::string written = shell("stat -c %y commit.cpp");
  CHECK(commit_of("tree") == commit + "+");
  CHECK(shell("stat -c %y commit.cpp") == written);  // nothing to compile
}

}  // namespace isobar::commit_test
