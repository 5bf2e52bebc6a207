# isobar::isobar: arrays, tape, ops, layers, optimizers, and the loader of data/.
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)

# ThreadSanitizer sees all of the threads of its own pool, and little of TBB's.
if(ISOBAR_SANITIZE MATCHES thread)
  set(thread_pool tests/tsan/thread_pool_std.cpp)
  set(thread_library "")
else()
  set(thread_pool core/thread_pool_tbb.cpp)
  set(thread_library TBB::tbb)
endif()
# Of data/; all other files there are isobar::data's.
set(light_data dataset loader tensor_dataset)
list(TRANSFORM light_data REPLACE "(.+)" "data/\\1.h" OUTPUT_VARIABLE light_headers)
file(GLOB sources CONFIGURE_DEPENDS
  core/*.cpp core/ranks/*.cpp autograd/*.cpp autograd/ops/*.cpp nn/*.cpp optim/*.cpp)
list(FILTER sources EXCLUDE REGEX "/(thread_pool_tbb|ranks_mpi|openblas_plugin)\\.cpp$")
# Where this is included, g++ warns of types that hold those of an unnamed namespace.
set_source_files_properties(core/blas.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

isobar_door(isobar core/isobar.h.in ${sources} ${thread_pool} data/loader.cpp data/tensor_dataset.cpp)
isobar_headers(core core/ranks autograd nn optim)
set_target_properties(isobar PROPERTIES UNITY_BUILD_MODE GROUP)
set(kernel_sources ${sources})
list(FILTER kernel_sources INCLUDE REGEX "/autograd/ops/")
list(REMOVE_ITEM sources ${kernel_sources})
isobar_units(ops 8 ${kernel_sources})
isobar_units(rest 20 ${sources} ${thread_pool} data/loader.cpp data/tensor_dataset.cpp)
install(FILES ${light_headers} DESTINATION ${include_dir}/data)
target_include_directories(isobar INTERFACE
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(isobar PUBLIC fmt::fmt PRIVATE ${thread_library} ${CMAKE_DL_LIBS})
target_compile_definitions(isobar PRIVATE ISOBAR_ARCH="${ISOBAR_ARCH}")
if(ISOBAR_VALGRIND)
  set_source_files_properties(core/memory.cpp PROPERTIES COMPILE_DEFINITIONS ISOBAR_VALGRIND
    SKIP_UNITY_BUILD_INCLUSION ON)
endif()

# What the compiler may use under ISOBAR_ARCH, for core/cpu_check.cpp, which itself runs on every CPU.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=${ISOBAR_ARCH} -dM -E -x c++ /dev/null
  OUTPUT_VARIABLE compiler_macros COMMAND_ERROR_IS_FATAL ANY)
set(cpu_features "")
foreach(feature sse3 ssse3 sse4.1 sse4.2 popcnt avx avx2 fma bmi bmi2 avx512f avx512vl avx512bw avx512dq avx512cd
    avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512bitalg avx512vpopcntdq avx512bf16)
  string(TOUPPER __${feature}__ macro)
  string(REPLACE "." "_" macro ${macro})
  if(compiler_macros MATCHES " ${macro} ")
    string(APPEND cpu_features "{\"${feature}\", __builtin_cpu_supports(\"${feature}\")}, ")
  endif()
endforeach()
if(cpu_features)
  set_source_files_properties(core/cpu_check.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON
    COMPILE_OPTIONS -march=x86-64 COMPILE_DEFINITIONS "ISOBAR_CPU_FEATURES=${cpu_features}")
endif()
target_link_options(isobar INTERFACE LINKER:-u,isobar_check_cpu)

# isobar::pointwise, for files that include autograd/pointwise.h: its kernels are compiled in the user's own
# program, with the options of the library's own kernels.
add_library(isobar_pointwise INTERFACE)
add_library(isobar::pointwise ALIAS isobar_pointwise)
set_target_properties(isobar_pointwise PROPERTIES EXPORT_NAME pointwise)
target_link_libraries(isobar_pointwise INTERFACE isobar)
target_compile_options(isobar_pointwise INTERFACE -march=${ISOBAR_ARCH} -ffp-contract=off -fno-math-errno
  $<$<NOT:$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-Og>)
set(pointwise_kernels dual elementary functions lane map norm pointwise reduce row scratch squares vec vmath)
list(TRANSFORM pointwise_kernels REPLACE "(.+)" "core/kernels/\\1.h")
install(FILES ${pointwise_kernels} DESTINATION ${include_dir}/core/kernels)
install(TARGETS isobar_pointwise EXPORT isobar-pointwise)
install(EXPORT isobar-pointwise NAMESPACE isobar:: FILE isobar-pointwise.cmake DESTINATION ${package_dir})
