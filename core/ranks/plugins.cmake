# Plugins for runs over several processes, one for each MPI that is found; opened under its launcher alone
# (core/ranks/ranks.h). Programs look for lib/isobar beside their own folder, wherever the package stands. The
# component mpi is not in the .deb: nothing else of it needs an MPI.
set(plugin_dir lib/isobar)
set(plugins "")
set_property(SOURCE core/ranks/ranks.cpp APPEND PROPERTY COMPILE_DEFINITIONS
  "ISOBAR_PLUGINS=\"${CMAKE_INSTALL_PREFIX}/${plugin_dir}\"")
foreach(mpi openmpi mpich)
  string(REPLACE openmpi ompi-c package ${mpi})
  pkg_check_modules(${mpi} QUIET IMPORTED_TARGET ${package})
  if(ISOBAR_MPI AND ${mpi}_FOUND AND PROJECT_IS_TOP_LEVEL AND NOT ISOBAR_SANITIZE)
    add_library(isobar_${mpi} MODULE core/ranks/ranks_mpi.cpp)
    target_link_libraries(isobar_${mpi} PRIVATE isobar_flags PkgConfig::${mpi})
    target_compile_definitions(isobar_${mpi} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    set_target_properties(isobar_${mpi} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/isobar)
    install(TARGETS isobar_${mpi} DESTINATION ${plugin_dir} COMPONENT mpi OPTIONAL)
    list(APPEND plugins isobar_${mpi})
  endif()
endforeach()
