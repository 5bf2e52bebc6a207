# decay_study and train_lm with your layer: cmake --build build --target studies
find_package(isobar 0.4 REQUIRED COMPONENTS studies)
add_library(layer OBJECT EXCLUDE_FROM_ALL a11.cpp studies.cpp)
target_link_libraries(layer PRIVATE isobar::isobar)
foreach(program decay_study train_lm)
  add_executable(${program} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:layer>)
  target_link_libraries(${program} PRIVATE isobar::${program})
endforeach()
add_custom_target(studies DEPENDS decay_study train_lm)
