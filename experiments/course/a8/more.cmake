# A call of these in a8.cpp goes to counted.cpp, which counts it and hands it on.
add_library(counted OBJECT counted.cpp)
target_link_libraries(counted PRIVATE isobar::isobar)
set(programs driver ${watched})
list(REMOVE_DUPLICATES programs)
foreach(program ${programs})
  target_sources(${program} PRIVATE $<TARGET_OBJECTS:counted>)
  foreach(symbol _ZN6isobar4Tape8backwardERKNS_6TensorES3_ _ZN6isobar4Tape14leaf_gradientsERKNS_6TensorES3_
          _ZN6isobar4Tape8gradientERKNS_6TensorERKSt6vectorIS1_SaIS1_EES3_)
    target_link_options(${program} PRIVATE -Wl,--wrap=${symbol})
  endforeach()
endforeach()
