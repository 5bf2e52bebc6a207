# Plugins, opened where a program asks for them alone (core/plugin.h): one for OpenBLAS, and for runs over several
# processes one for each MPI that is found. Programs look for lib/isobar beside their own folder, wherever the
# package stands. The component mpi is not in the .deb: nothing else of it needs an MPI.
set(plugin_dir lib/isobar)
set(plugins "")
set_property(SOURCE core/plugin.cpp APPEND PROPERTY COMPILE_DEFINITIONS
  "ISOBAR_PLUGINS=\"${CMAKE_INSTALL_PREFIX}/${plugin_dir}\"")

# isobar_plugin(NAME, its source, the library): links nothing of isobar's.
macro(isobar_plugin name source library)
  add_library(isobar_${name} MODULE ${source})
  target_link_libraries(isobar_${name} PRIVATE isobar_flags PkgConfig::${library})
  set_target_properties(isobar_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/isobar)
  list(APPEND plugins isobar_${name})
endmacro()

if(ISOBAR_OPENBLAS)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)
  isobar_plugin(openblas core/openblas_plugin.cpp openblas)
  install(TARGETS isobar_openblas DESTINATION ${plugin_dir})
endif()
if(ISOBAR_MPI AND PROJECT_IS_TOP_LEVEL AND NOT ISOBAR_SANITIZE)
  find_package(PkgConfig REQUIRED)
  foreach(mpi openmpi mpich)
    string(REPLACE openmpi ompi-c package ${mpi})
    pkg_check_modules(${mpi} QUIET IMPORTED_TARGET ${package})
    if(${mpi}_FOUND)
      isobar_plugin(${mpi} core/ranks/ranks_mpi.cpp ${mpi})
      target_compile_definitions(isobar_${mpi} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
      install(TARGETS isobar_${mpi} DESTINATION ${plugin_dir} COMPONENT mpi OPTIONAL)
    endif()
  endforeach()
endif()
