# isobar::isobar alone asks for none of what isobar::data reads files with.
foreach(target ZLIB::ZLIB PkgConfig::HDF5 PkgConfig::UTF8PROC PkgConfig::XXHASH nlohmann_json::nlohmann_json spdlog::spdlog)
  if(TARGET ${target})
    message(FATAL_ERROR "isobar::isobar brought ${target} along")
  endif()
endforeach()
