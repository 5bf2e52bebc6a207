# The one set of flags that all are measured with. x86-64 has the registers that the library wants, ARM64 its own; a product
# and a sum become one instruction where the machine has one.
set(flags -O3 -fno-math-errno -fno-trapping-math -ffp-contract=fast -Wno-psabi)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND flags -march=x86-64-v3)
endif()
set_source_files_properties(${PROJECT_NAME}.cpp baseline.cpp clocked.cpp PROPERTIES COMPILE_OPTIONS "${flags}")

# Two programs for the clock: they compute when they are told. Nobody watches their memory.
foreach(program clocked baseline)
  if(program STREQUAL clocked)
    set(source ${PROJECT_NAME}.cpp)
  else()
    set(source baseline.cpp)
  endif()
  add_executable(${program} EXCLUDE_FROM_ALL ${source} clocked.cpp)
  target_link_libraries(${program} PRIVATE isobar::isobar)
endforeach()
add_custom_target(measured DEPENDS clocked baseline)

# A call of these in a9.cpp goes to counted.cpp, which counts it and hands it on.
add_library(counted OBJECT counted.cpp)
set(programs driver ${watched})
list(REMOVE_DUPLICATES programs)
foreach(program ${programs})
  target_sources(${program} PRIVATE $<TARGET_OBJECTS:counted>)
  foreach(function exp exp2 expm1 sinh cosh tanh pow log log2 log10 log1p asinh acosh atanh erf erfc)
    target_link_options(${program} PRIVATE -Wl,--wrap=${function}f -Wl,--wrap=${function} -Wl,--wrap=${function}l)
  endforeach()
endforeach()
