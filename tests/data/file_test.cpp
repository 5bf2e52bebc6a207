#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../file_size_limit.h"
#include "../temporary_folder.h"

namespace isobar::file_test {

TEST_CASE("a file written atomically holds exactly its bytes, and nothing else is left in the folder") {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\n", 4);
  write_file_atomically(folder / "x", "what was there before");
  write_file_atomically(folder / "x", bytes);
  CHECK(read_file(folder / "x", 4) == bytes);
  CHECK(folder.names() == std::vector<std::string>{"x"});
}

TEST_CASE("a write that fails says why, keeps the old file and removes its temporary") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x", "old");
  {
    const FileSizeLimit limit(1000);
    CHECK_THROWS_WITH_AS(write_file_atomically(folder / "x", std::string(5000, 'n')),
                         doctest::Contains("x': File too large"), Error);
  }
  CHECK(read_file(folder / "x", 100) == "old");
  CHECK(folder.names() == std::vector<std::string>{"x"});
}

TEST_CASE("files that cannot be written or read are named with the system's reason") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(write_file_atomically(folder / "no/x", "y"),
                       doctest::Contains("No such file or directory"), Error);
  CHECK_THROWS_WITH_AS(read_file(folder / "absent", 10), doctest::Contains("absent': No such file"), Error);
  CHECK_THROWS_WITH_AS(read_file(folder.path(), 10), doctest::Contains("Is a directory"), Error);
  std::filesystem::create_directory(folder / "d");
  CHECK_THROWS_WITH_AS(write_file_atomically(folder / "d", "y"), doctest::Contains("wanted a regular file"),
                       Error);
  CHECK(folder.names() == std::vector<std::string>{"d"});
}

TEST_CASE("a file longer than the limit is refused") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x", "12345");
  CHECK(read_file(folder / "x", 5) == "12345");
  CHECK_THROWS_WITH_AS(read_file(folder / "x", 4), doctest::Contains("at most 4 bytes"), Error);
}

TEST_CASE("what killed writers left behind is removed, and nothing else") {
  const TemporaryFolder folder;
  for (const char* name : {"run.h5.node_7-12-0.tmp", "a.b.x-7-15.tmp", "mine.tmp", "x.a-12-.tmp",
                           "x.a--3.tmp", ".a-1-2.tmp.h5", "a-12-0.tmp", "x.12-0.tmp"})
    folder.write(name, "x");
  remove_temporaries(folder.path());
  CHECK(folder.names() == std::vector<std::string>{".a-1-2.tmp.h5", "a-12-0.tmp", "mine.tmp", "x.12-0.tmp",
                                                   "x.a--3.tmp", "x.a-12-.tmp"});
  remove_temporaries(folder / "none");
}

TEST_CASE("a writer removes what killed writers of the same file on its machine left, and no other's") {
  const TemporaryFolder folder;
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  REQUIRE(waitpid(dead, nullptr, 0) == dead);
  const std::string own = std::filesystem::path(temporary_name(folder / "x")).filename(),
                    here = own.substr(1, own.find('-')),  // ".host-"
      killed = here + std::to_string(dead) + "-0.tmp", living = here + std::to_string(getppid()) + "-0.tmp",
                    elsewhere = ".other_host-" + std::to_string(dead) + "-0.tmp";
  for (const std::string& name : {"x" + killed, "y" + killed, "x" + living, "x" + elsewhere})
    folder.write(name, "half");
  write_file_atomically(folder / "x", "whole");
  std::vector<std::string> left = {"x", "x" + living, "y" + killed, "x" + elsewhere};
  std::sort(left.begin(), left.end());
  CHECK(folder.names() == left);
}

TEST_CASE("files that belong together appear all or none") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "a", "old");
  {
    const FileSizeLimit limit(1000);
    CHECK_THROWS_WITH_AS(
        write_files_atomically({{folder / "a", "new"}, {folder / "b", std::string(5000, 'n')}}),
        doctest::Contains("b': File too large"), Error);
  }
  CHECK(read_file(folder / "a", 100) == "old");
  CHECK(folder.names() == std::vector<std::string>{"a"});
  write_files_atomically({{folder / "a", "new"}, {folder / "b", "too"}});
  CHECK(read_file(folder / "a", 100) == "new");
  CHECK(folder.names() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("the names in a folder come in order, and a folder that is not there has none") {
  const TemporaryFolder folder;
  CHECK(names_in(folder / "none").empty());
  for (const char* name : {"b", "a", ".hidden"}) write_file_atomically(folder / name, "x");
  CHECK(names_in(folder / "") == std::vector<std::string>{".hidden", "a", "b"});
  CHECK(names_in(folder / "a").empty());
}

TEST_CASE("a folder is made once, and never in place of a file") {
  const TemporaryFolder folder;
  folder.write("file", "x");
  make_folder_durably(folder / "new");
  make_folder_durably(folder / "new");
  CHECK(std::filesystem::is_directory(folder / "new"));
  CHECK_THROWS_WITH_AS(make_folder_durably(folder / "file"), doctest::Contains("cannot make the folder"),
                       Error);
  CHECK_THROWS_WITH_AS(make_folder_durably(folder / "no/folder"), doctest::Contains("No such file"), Error);
}

}  // namespace isobar::file_test
