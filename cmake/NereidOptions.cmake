# SPDX-License-Identifier: Apache-2.0
# Compiler and linker settings shared by every target.
add_library(nereid_options INTERFACE)
add_library(nereid::options ALIAS nereid_options)

target_compile_options(nereid_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(nereid_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>)
endif()

# Binaries name files from the folder of the checkout on (__FILE__): no path of a machine is in them. Debugging information, and the
# build IDs made from it, still differ by folder.
# Debuggers and sanitizers are not concerned: they read the debugging information.
foreach(folder ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  add_compile_options(-fmacro-prefix-map=${folder}/=)
endforeach()

# A target that holds generated code switches all warnings off (-w), which wins. Unit tests may warn.
if(NEREID_WERROR)
  target_compile_options(nereid_options INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:NEREID_UNIT_TEST>>>:-Werror>)
endif()

if(NEREID_SANITIZE)
  set(flags -fsanitize=${NEREID_SANITIZE} -fno-omit-frame-pointer)
  if(NEREID_SANITIZE MATCHES "undefined")
    list(APPEND flags -fno-sanitize-recover=undefined)
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      # A C API is given any number as an enum, and says what is wrong with it. Checks of virtual
      # tables need the C++ library, and programs in C load ours, too.
      list(APPEND flags -fno-sanitize=enum,vptr)
    endif()
  endif()
  target_compile_options(nereid_options INTERFACE ${flags})
  target_link_options(nereid_options INTERFACE ${flags})
  target_compile_definitions(nereid_options INTERFACE NEREID_SANITIZED)
endif()

find_program(NEREID_MOLD mold)
if(NEREID_MOLD AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  # Pages of code of their own: otherwise mold before 2.4 may begin RELRO in a page that is not
  # mapped, with some sizes of .text, and the program does not start (mold's issue 1151).
  target_link_options(nereid_options INTERFACE -fuse-ld=mold -Wl,-z,separate-code)
endif()

# A build that counts what it does, and one that is laid out by such counts (tools/profile.sh).
if(NEREID_PROFILE)
  include(NereidProfile)
endif()

find_program(NEREID_CCACHE ccache)
if(NEREID_CCACHE AND NOT NEREID_PROFILE)
  set(CMAKE_C_COMPILER_LAUNCHER ${NEREID_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${NEREID_CCACHE})
endif()
target_compile_definitions(nereid_options INTERFACE NEREID_VERSION="${PROJECT_VERSION}")
