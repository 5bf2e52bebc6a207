# isobar::check: whatever looks at gradients and tapes, and check_layer with new_layer, which starts a layer of
# the user's own.
include(autograd/check/page/embed.cmake)
file(GLOB sources CONFIGURE_DEPENDS autograd/check/*.cpp autograd/check/diagnosis/*.cpp nn/check/*.cpp)
isobar_door(check nn/check/check.h ${sources} ${PROJECT_BINARY_DIR}/tape_page_texts.cpp)
isobar_headers(autograd/check nn/check)
# What takes time in a check are the library's ops.
target_compile_options(isobar_check PRIVATE $<$<CONFIG:Release>:-O1>)
target_link_libraries(isobar_check PUBLIC isobar)
install(PROGRAMS nn/new_layer DESTINATION ${CMAKE_INSTALL_BINDIR})
