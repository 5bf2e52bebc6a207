# isobar::data: texts, images and tokenizers, HDF5, safetensors and metrics files.
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
file(GLOB sources CONFIGURE_DEPENDS data/*.cpp data/hdf5/*.cpp)
list(FILTER sources EXCLUDE REGEX "/(loader|tensor_dataset)\\.cpp$")
# The data that come along: programs of the build tree read them in the source tree, all others where they were
# installed.
set(installed_data ${CMAKE_INSTALL_FULL_DATADIR}/isobar)
file(RELATIVE_PATH data_from_program ${CMAKE_INSTALL_FULL_BINDIR} ${installed_data})
file(RELATIVE_PATH data_from_library ${CMAKE_INSTALL_FULL_LIBDIR} ${installed_data})
set_source_files_properties(data/shipped.cpp PROPERTIES COMPILE_DEFINITIONS
  "ISOBAR_SOURCE_DATA=\"${PROJECT_SOURCE_DIR}/data\";ISOBAR_INSTALLED_DATA=\"${installed_data}\";\
ISOBAR_BUILD_TREE=\"${CMAKE_BINARY_DIR}\";ISOBAR_DATA_FROM_PROGRAM=\"${data_from_program}\";\
ISOBAR_DATA_FROM_LIBRARY=\"${data_from_library}\"")
isobar_door(data data/data.h ${sources})
isobar_headers(data)
# Files and texts: no loop of them gains from -O3, which makes them compile a quarter longer.
target_compile_options(isobar_data PRIVATE $<$<CONFIG:Release>:-O2>)
target_link_libraries(isobar_data PUBLIC isobar
  PRIVATE ${CMAKE_DL_LIBS} ZLIB::ZLIB PkgConfig::HDF5 PkgConfig::UTF8PROC PkgConfig::XXHASH
    $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
install(FILES data/tinyshakespeare.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/isobar)
install(DIRECTORY data/mnist DESTINATION ${CMAKE_INSTALL_DATADIR}/isobar)
install(TARGETS isobar_data EXPORT isobar-data OPTIONAL)
install(EXPORT isobar-data NAMESPACE isobar:: FILE isobar-data.cmake DESTINATION ${package_dir})
