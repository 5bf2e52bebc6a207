#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
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

TEST_CASE("a link at a name that a program chose is replaced, and its target is left alone") {
  const TemporaryFolder folder;
  folder.write("target", "the user's");
  std::filesystem::create_directory(folder / "run");
  std::filesystem::create_symlink(folder / "target", folder / "run/x");
  write_file_atomically(folder / "run/x", "new");
  CHECK(file_text(folder / "target") == "the user's");
  CHECK_FALSE(std::filesystem::is_symlink(folder / "run/x"));
  CHECK(file_text(folder / "run/x") == "new");
  // A link at the name of the temporary file, which can be guessed.
  const std::string name = temporary_name(folder / "run/x"), number = name.substr(0, name.rfind('-') + 1);
  for (int next = 0; next < 50; ++next) {
    const std::string guess = number + std::to_string(std::stoi(name.substr(number.size())) + next) + ".tmp";
    std::filesystem::create_symlink(folder / "target", guess);
  }
  write_file_atomically(folder / "run/x", "newer");
  CHECK(file_text(folder / "run/x") == "newer");
  CHECK(file_text(folder / "target") == "the user's");
}

TEST_CASE("a link that the user named stays, and its target is written beside itself") {
  const TemporaryFolder folder;
  folder.write("disk/target", "old");
  folder.write("here/unrelated", "x");
  std::filesystem::create_symlink("../disk/target", folder / "here/link");
  std::filesystem::create_symlink(folder / "here/link", folder / "second");
  std::filesystem::create_symlink(folder / "disk/new", folder / "dangling");
  for (const char* name : {"here/link", "second", "dangling"}) {
    CAPTURE(name);
    write_file_atomically(folder / name, name, PathFrom::user);
    CHECK(std::filesystem::is_symlink(folder / name));
    CHECK(file_text(folder / name) == name);
  }
  CHECK(file_text(folder / "disk/target") == "second");
  CHECK(names_in(folder / "disk") == std::vector<std::string>{"new", "target"});
  CHECK(names_in(folder / "here") == std::vector<std::string>{"link", "unrelated"});
  std::filesystem::create_symlink(folder / "a", folder / "b");
  std::filesystem::create_symlink(folder / "b", folder / "a");
  CHECK_THROWS_WITH_AS(write_file_atomically(folder / "a", "x", PathFrom::user),
                       doctest::Contains("Too many levels of symbolic links"), Error);
  std::filesystem::create_symlink(folder / "missing/new", folder / "astray");
  for (const char* name : {"astray", "to_astray"}) {
    if (name == std::string("to_astray")) std::filesystem::create_symlink(folder / "astray", folder / name);
    CHECK_THROWS_WITH_AS(write_file_atomically(folder / name, "x", PathFrom::user),
                         doctest::Contains("in a folder that is not there; make the folder"), Error);
    CHECK(std::filesystem::is_symlink(folder / name));
  }
}

TEST_CASE("what is in /dev or /proc is written to, also through a link, and is never replaced") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/null", folder / "null");
  const int out = create_file(folder / "out");
  REQUIRE(out >= 0);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(out), folder / "link");
  std::filesystem::create_symlink("/dev/fd/" + std::to_string(out), folder / "device");
  CHECK(::write(out, "before ", 7) == 7);
  for (const char* name : {"null", "link", "device"}) {
    CHECK(is_written_in_place(folder / name));
    write_file_atomically(folder / name, std::string(name) + " ", PathFrom::user);
    CHECK(std::filesystem::is_symlink(folder / name));
  }
  CHECK(::write(out, "after", 5) == 5);
  ::close(out);
  CHECK(file_text(folder / "out") == "before link device after");
  CHECK(is_written_in_place("/dev/stdout"));
  CHECK_FALSE(is_written_in_place(folder / "out"));
  CHECK_FALSE(is_written_in_place("/dev/shm/x"));
  CHECK(std::filesystem::is_character_file("/dev/null"));
  CHECK(folder.names() == std::vector<std::string>{"device", "link", "null", "out"});
}

TEST_CASE("only a regular file with one name is appended to") {
  const TemporaryFolder folder;
  folder.write("x", "one ");
  const int file = open_to_append(folder / "x");
  append_to(file, "two", folder / "x");
  ::close(file);
  CHECK(file_text(folder / "x") == "one two");
  std::filesystem::create_symlink(folder / "x", folder / "link");
  std::filesystem::create_directory(folder / "folder");
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  for (const char* name : {"link", "fifo"})
    CHECK_THROWS_WITH_AS(open_to_append(folder / name), doctest::Contains("wanted a regular file"), Error);
  CHECK_THROWS_WITH_AS(open_to_append(folder / "folder"), doctest::Contains("Is a directory"), Error);
  CHECK_THROWS_WITH_AS(open_to_append(folder / "none"), doctest::Contains("No such file"), Error);
  std::filesystem::create_hard_link(folder / "x", folder / "y");
  CHECK_THROWS_WITH_AS(open_to_append(folder / "y"), doctest::Contains("no other name"), Error);
  CHECK(file_text(folder / "x") == "one two");
}

TEST_CASE("a file is created only where nothing has its name, and a FIFO is not waited for") {
  const TemporaryFolder folder;
  folder.write("file", "x");
  std::filesystem::create_symlink(folder / "new", folder / "link");
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  for (const char* name : {"file", "link", "fifo"}) {
    CHECK(create_file(folder / name) == -1);
    CHECK(errno == EEXIST);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "new"));
  for (const PathFrom from : {PathFrom::program, PathFrom::user})
    CHECK_THROWS_WITH_AS(write_file_atomically(folder / "fifo", "x", from),
                         doctest::Contains("wanted a regular file to replace"), Error);
  CHECK_THROWS_WITH_AS(read_regular_file(folder / "fifo", 10), doctest::Contains("is it there, and a file"),
                       Error);
  CHECK(folder.names() == std::vector<std::string>{"fifo", "file", "link"});
}

TEST_CASE("a file longer than the limit is refused") {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x", "12345");
  CHECK(read_file(folder / "x", 5) == "12345");
  CHECK_THROWS_WITH_AS(read_file(folder / "x", 4), doctest::Contains("at most 4 bytes"), Error);
}

TEST_CASE(
    "of what killed writers left behind, this machine's files of the caller's names are removed, and nothing else") {
  const TemporaryFolder folder;
  const std::string own = std::filesystem::path(temporary_name(folder / "x")).filename(),
                    here = own.substr(1, own.find('-'));         // ".host-"
  std::vector<std::string> left = {"notes" + here + "11-0.tmp",  // of no name of the caller's
                                   "run.h5.draft-2024-11.tmp",   // as a user may call a file
                                   "mine.tmp",
                                   "x.a-12-.tmp",
                                   "x.a--3.tmp",
                                   ".a-1-2.tmp.h5",
                                   "a-12-0.tmp",
                                   "x.12-0.tmp"};
  for (const std::string& name : left) folder.write(name, "x");
  for (const std::string& name : {"run.h5" + here + "12-0.tmp", "a.b" + here + "7-15.tmp"})
    folder.write(name, "x");
  const auto is_own = [](const std::string& name) { return name != "notes"; };
  remove_temporaries(folder.path(), is_own);
  std::sort(left.begin(), left.end());
  CHECK(folder.names() == left);
  remove_temporaries(folder / "none", is_own);
  folder.write("run.h5.other_host-1-0.tmp", "x");
  remove_temporaries(folder.path(), is_own);
  CHECK(folder.names().size() == left.size() + 1);
  remove_temporaries(folder.path(), is_own, Machines::all);
  std::erase(left, "run.h5.draft-2024-11.tmp");  // so a machine named draft would call it
  CHECK(folder.names() == left);
  CHECK(final_name_of("a.b.node_7-12-0.tmp") == "a.b");
  CHECK_FALSE(final_name_of("mine.tmp").has_value());
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
  // Where the first cannot take its place, the last of the old is gone: it belonged to the first.
  std::filesystem::create_directory(folder / "c");
  folder.write("d", "old");
  CHECK_THROWS_AS(write_files_atomically({{folder / "c", "new"}, {folder / "d", "new"}}), Error);
  CHECK_FALSE(std::filesystem::exists(folder / "d"));
  std::filesystem::remove(folder / "c");
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
  std::filesystem::create_symlink(folder / "new", folder / "link");
  CHECK_THROWS_WITH_AS(make_folder_durably(folder / "link"), doctest::Contains("is a symbolic link"), Error);
}

}  // namespace isobar::file_test
