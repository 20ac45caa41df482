# SPDX-License-Identifier: Apache-2.0
# A folder is a module is a target. Each src/ folder calls nereid_module() once and
# nereid_test() for each of its tests.

# Several sources of a target are compiled as one, which parses the headers once: a build from
# nothing takes less than half the time. A source that cannot share its file-local names with its neighbours is
# named behind ALONE. The preset `lint` (`make lint`) compiles each source alone, so
# that each includes what it uses.
function(nereid_compile_together target)
  if(NEREID_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY" AND CMAKE_CURRENT_SOURCE_DIR MATCHES "^${CMAKE_SOURCE_DIR}/(src|apps)/")
    nereid_share_headers(${target})
  endif()
  # The preset `asan` shares headers among its libraries, too.
  if(NEREID_SANITIZE AND NEREID_BUILD_TESTS AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"
     AND NOT kind STREQUAL "EXECUTABLE")
    nereid_share_test_headers(${target})
  endif()
endfunction()

# Headers that most sources include are parsed once for all libraries, which saves a build from nothing a sixth of
# its time. The plug-ins are left out: they do not use Abseil.
function(nereid_share_headers target)
  if(NOT NEREID_UNITY OR NEREID_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  if(NOT TARGET nereid_headers)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/headers.cc CONTENT "")
    add_library(nereid_headers STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/headers.cc)
    target_link_libraries(nereid_headers PRIVATE nereid::options absl::statusor absl::strings)
    target_precompile_headers(nereid_headers PRIVATE
      <absl/container/flat_hash_map.h> <absl/functional/any_invocable.h> <absl/status/statusor.h>
      <absl/strings/str_cat.h> <absl/strings/str_format.h> <absl/strings/str_join.h> <absl/strings/str_split.h>
      <absl/types/span.h> <algorithm> <array> <atomic> <chrono> <functional> <map> <memory> <mutex> <optional>
      <span> <string> <string_view> <thread> <utility> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM nereid_headers)
endfunction()

# GCC 12 takes moved variants and inlined vectors for uninitialised, where it inlines a lot, and says so
# in hundreds of lines. Other compilers and the sanitizers look at the same code.
function(nereid_without_false_alarms target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endfunction()

# nereid_module(NAME SOURCES a.cc ... [ALONE b.cc ...] DEPS base model ... [LIBS absl::status ...])
#   NAME    module name: the target is nereid_NAME (alias nereid::NAME)
#   DEPS    other modules, which must lie on a lower layer (tools/check_includes.py)
#   LIBS    external targets
function(nereid_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE;DEPS;LIBS" ${ARGN})
  if(ARG_SOURCES)
    add_library(nereid_${name} STATIC ${ARG_SOURCES} ${ARG_ALONE})
    nereid_compile_together(nereid_${name} ${ARG_ALONE})
    set(scope PUBLIC)
  else()
    add_library(nereid_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(nereid::${name} ALIAS nereid_${name})
  target_include_directories(nereid_${name} ${scope} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(nereid_${name} ${scope} nereid::options ${ARG_LIBS})
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(nereid_${name} ${scope} nereid::${dep})
  endforeach()
endfunction()

# Headers that most tests include are parsed once for all of them: a third of the time that a test
# takes to compile. `make lint` compiles without, so that each source includes what it uses.
function(nereid_share_test_headers target)
  # For ThreadSanitizer of GCC another header has to come first (proto/without_tsan_macro.h).
  if(NOT NEREID_UNITY OR (NEREID_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"))
    return()
  endif()
  # Code of programs and code of libraries are addressed differently.
  get_target_property(kind ${target} TYPE)
  set(headers nereid_test_headers_of_libraries)
  if(kind STREQUAL "EXECUTABLE")
    set(headers nereid_test_headers)
  endif()
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cc CONTENT "int main() {}\n")
    if(kind STREQUAL "EXECUTABLE")
      add_executable(${headers} EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/test_headers.cc)
      target_compile_options(${headers} PRIVATE -O0)  # as tests are compiled
    else()
      add_library(${headers} STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/test_headers.cc)
    endif()
    # With a time in it, the compiler cache would never find what was compiled with it.
    target_compile_options(${headers} PRIVATE
      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
    target_link_libraries(${headers} PRIVATE nereid::options GTest::gmock absl::statusor)
    target_precompile_headers(${headers} PRIVATE
      <gmock/gmock.h> <gtest/gtest.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
      <algorithm> <atomic> <chrono> <functional> <map> <memory> <mutex> <string> <thread> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# nereid_test(NAME SOURCES x_test.cc ... [ALONE y_test.cc ...] DEPS modules... [LIBS ...] [ARGS ...] [LABELS ...])
#   One GoogleTest program; CTest runs it as a whole.
function(nereid_test name)
  if(NOT NEREID_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE;DEPS;LIBS;ARGS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES} ${ARG_ALONE})
  nereid_compile_together(${name} ${ARG_ALONE})
  set_target_properties(${name} PROPERTIES NEREID_UNIT_TEST ON)
  # A test runs once: optimising it takes as long as compiling it. What it tests stays optimised.
  target_compile_options(${name} PRIVATE -O0)
  target_link_libraries(${name} PRIVATE nereid::options ${ARG_LIBS} GTest::gmock GTest::gtest_main)
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(${name} PRIVATE nereid::${dep})
  endforeach()
  if(NOT "${ARG_SOURCES}" MATCHES "[.]c(;|$)")
    nereid_share_test_headers(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS "unit;${ARG_LABELS}" TIMEOUT 120)
endfunction()

# nereid_fuzzer(NAME SOURCES x_fuzz.cc DEPS modules... [LIBS ...])
#   built only with -DNEREID_BUILD_FUZZERS=ON, into fuzzers/; its seeds are tests/fuzz/NAME.seeds
function(nereid_fuzzer name)
  if(NOT NEREID_BUILD_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE nereid::options ${ARG_LIBS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzzers)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name})
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(${name} PRIVATE nereid::${dep})
  endforeach()
endfunction()

# nereid_bench(NAME SOURCES x_bench.cc DEPS modules... [LIBS ...])
#   one Google Benchmark program, only with -DNEREID_BUILD_BENCH=ON, into micro/; `micro_benches`
#   builds them all
function(nereid_bench name)
  if(NOT NEREID_BUILD_BENCH)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE nereid::options ${ARG_LIBS} benchmark::benchmark_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/micro)
  if(NOT TARGET micro_benches)
    add_custom_target(micro_benches)
  endif()
  add_dependencies(micro_benches ${name})
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(${name} PRIVATE nereid::${dep})
  endforeach()
endfunction()

# A plug-in shows its entry points and nothing else: the C++ library's templates that it holds would
# otherwise come before those of libraries loaded later, made by another compiler.
function(nereid_export_entry_points target)
  set(entry_points ${CMAKE_SOURCE_DIR}/abi/plugin.map)
  target_link_options(${target} PRIVATE LINKER:--version-script=${entry_points})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${entry_points})
endfunction()

# nereid_plugin(KIND NAME [FRAMEWORK] SOURCES ... [ALONE ...] [LIBS ...]): a library that the server loads. It sees
# only include/ and the SDKs, and resolves the server's functions from libtritonserver.so.
#   backend     backends/NAME/libtriton_NAME.so
#   cache       caches/NAME/libtritoncache_NAME.so, a response cache
#   repoagent   repoagents/NAME/libtritonrepoagent_NAME.so, a repository agent
# With FRAMEWORK it shares templates and their variables with a framework in C++, and so exports these, too.
function(nereid_plugin kind name)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "FRAMEWORK" "" "SOURCES;ALONE;LIBS")
  set(prefix_of_backend triton)
  set(prefix_of_cache tritoncache)
  set(prefix_of_repoagent tritonrepoagent)
  if(NOT prefix_of_${kind})
    message(FATAL_ERROR "nereid_plugin: there is no kind '${kind}'")
  endif()
  set(target ${prefix_of_${kind}}_${name})
  add_library(${target} SHARED ${ARG_SOURCES} ${ARG_ALONE})
  nereid_compile_together(${target} ${ARG_ALONE})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE nereid::options tritonserver ${ARG_LIBS})
  if(NOT ARG_FRAMEWORK)
    nereid_export_entry_points(${target})
  endif()
  set_target_properties(${target} PROPERTIES
    NEREID_FOLDER ${kind}s/${name}  # in an installation
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${kind}s/${name}
    SKIP_BUILD_RPATH ON)
  set_property(GLOBAL APPEND PROPERTY NEREID_PLUGINS ${target})
endfunction()

# nereid_runpath(TARGET INSTALLED [BUILT...])
#
# Where `TARGET` looks for the libraries of a framework: in INSTALLED in an installation, in the build tree where they
# were fetched, also in BUILT. A build by a profile has the first alone, as it is never run where it is built: installing
# would replace a path that depends on the folder of the checkout, but not the room that it takes.
function(nereid_runpath target installed)
  set_target_properties(${target} PROPERTIES SKIP_BUILD_RPATH OFF INSTALL_RPATH "${installed}")
  if(NEREID_PROFILE)
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
  elseif(ARGN)
    set_target_properties(${target} PROPERTIES BUILD_RPATH "${ARGN}")
  endif()
endfunction()
