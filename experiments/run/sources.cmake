# cmake -D SOURCE=… -D OUTPUT=… -P sources.cmake: writes OUTPUT/<program>.cpp for each program of experiments/, which
# gives isobar_sources() to that program: a hash of the files that its numbers are computed by. A file is written
# only where its hash is another.
#
# These are the C++ files of the library, whole, and of experiments/ those that the program includes, file by file:
# with a header comes the .cpp of its name, and each .cpp beside it that includes it and has no header of its own,
# but for the main files of programs.
# A fixture counts where one of these files declares it. Names are relative to the tree, and no compiler is asked,
# so that every build of one tree has the same hash.
cmake_minimum_required(VERSION 3.25)
set(experiments ${SOURCE}/experiments)
include(${CMAKE_CURRENT_LIST_DIR}/../programs.cmake)
programs_in(programs ${experiments})

# hash_of(VARIABLE FILES): of their names and contents.
function(hash_of variable files)
  list(SORT files)
  set(lines "")
  foreach(file IN LISTS files)
    file(SHA256 ${file} hash)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${SOURCE} OUTPUT_VARIABLE name)
    string(APPEND lines "${name} ${hash}\n")
  endforeach()
  string(SHA256 hash "${lines}")
  set(${variable} ${hash} PARENT_SCOPE)
endfunction()

set(rooms core autograd nn optim data)
list(TRANSFORM rooms REPLACE "(.+)" "${SOURCE}/\\1/*.h;${SOURCE}/\\1/*.cpp")
file(GLOB_RECURSE library ${rooms})
hash_of(library_hash "${library}")

# What a file brings along: brought_FILE. Of a header these are its .cpp files, too.
file(GLOB_RECURSE files ${experiments}/*.h ${experiments}/*.cpp)
foreach(file IN LISTS files)
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(REPLACE_EXTENSION file LAST_ONLY .h OUTPUT_VARIABLE own_header)
  file(STRINGS ${file} lines REGEX "^ *#include \"|^ *extern const char ")
  foreach(line IN LISTS lines)
    if(line MATCHES "#include \"([^\"]+)\"")
      cmake_path(ABSOLUTE_PATH CMAKE_MATCH_1 BASE_DIRECTORY ${folder} NORMALIZE OUTPUT_VARIABLE header)
      list(APPEND brought_${file} ${header})
      cmake_path(GET header PARENT_PATH folder_of_header)
      if(file MATCHES "\\.cpp$" AND folder STREQUAL folder_of_header AND NOT file IN_LIST programs
         AND (header STREQUAL own_header OR NOT own_header IN_LIST files))
        list(APPEND brought_${header} ${file})
      endif()
    else()
      string(REGEX MATCHALL "[a-z_0-9]+" names "${line}")
      list(TRANSFORM names REPLACE "(.+)" "${experiments}/fixtures/\\1.*")
      file(GLOB fixtures ${names})
      list(APPEND brought_${file} ${fixtures})
    endif()
  endforeach()
endforeach()

foreach(program IN LISTS programs)
  set(all "")
  set(next ${program})
  while(next)
    list(POP_BACK next file)
    cmake_path(IS_PREFIX experiments ${file} inside)
    if(inside AND NOT file IN_LIST all)
      list(APPEND all ${file})
      list(APPEND next ${brought_${file}})
    endif()
  endwhile()
  hash_of(hash "${all}")
  string(SHA256 hash "${library_hash}${hash}")
  string(SUBSTRING ${hash} 0 16 hash)
  cmake_path(GET program STEM name)
  file(CONFIGURE OUTPUT ${OUTPUT}/${name}.cpp @ONLY CONTENT
    "#include <string>\n\nnamespace isobar {\nstd::string isobar_sources() { return \"${hash}\"; }\n}  // namespace isobar\n")
endforeach()
