# cmake -D SOURCE=… -D OUTPUT=… -P commit.cmake: writes isobar_commit() into OUTPUT, and touches the file only
# where the commit is another. "2ca2793a1b2c" is the commit of the sources; "+" follows it where what the
# programs are compiled of was changed since; "unknown" outside of a work tree of git.
cmake_minimum_required(VERSION 3.25)
find_package(Git QUIET)
set(commit unknown)
if(GIT_FOUND)
  set(git ${GIT_EXECUTABLE} --no-optional-locks -C ${SOURCE})
  # A tarball that was unpacked inside of another project's work tree has none of its commits.
  execute_process(COMMAND ${git} rev-parse --show-cdup --short=12 HEAD
    OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND lines MATCHES "^\n?([0-9a-f]+)$")
    set(commit ${CMAKE_MATCH_1})
    set(paths CMakeLists.txt)
    foreach(room core autograd nn optim data experiments)
      list(APPEND paths ":(glob)${room}/**/*.cpp" ":(glob)${room}/**/*.h" ":(glob)${room}/**/CMakeLists.txt")
    endforeach()
    execute_process(COMMAND ${git} status --porcelain -- ${paths} OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      string(APPEND commit "+")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT
  "#include <string>\n\nnamespace isobar {\nstd::string isobar_commit() { return \"${commit}\"; }\n}  // namespace isobar\n")
