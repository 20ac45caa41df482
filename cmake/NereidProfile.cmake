# SPDX-License-Identifier: Apache-2.0
# Profile-guided builds, by GCC. NEREID_PROFILE=generate: programs and libraries count what they execute, and add
# that to the files in NEREID_PROFILE_FOLDER when they end. NEREID_PROFILE=use: the code is laid out by these files.
#
# Files are named by the path of the object within its build folder, and functions by their names and relative paths: a build
# in any folder finds them, and makes the same bytes of them.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(FATAL_ERROR "NEREID_PROFILE takes GCC, and not ${CMAKE_CXX_COMPILER_ID}: set CMAKE_CXX_COMPILER to g++")
endif()
set(profile_flags -fprofile-prefix-path=${CMAKE_BINARY_DIR})
if(NEREID_PROFILE STREQUAL "generate")
  list(APPEND profile_flags -fprofile-generate=${NEREID_PROFILE_FOLDER} -fprofile-update=atomic)
  target_link_options(nereid_options INTERFACE -fprofile-generate)
  target_compile_definitions(nereid_options INTERFACE NEREID_COUNTS)
elseif(NEREID_PROFILE STREQUAL "use")
  if(NOT EXISTS ${NEREID_PROFILE_FOLDER})
    message(FATAL_ERROR "there is no profile in ${NEREID_PROFILE_FOLDER}: tools/profile.sh makes one")
  endif()
  # Code that the training did not reach is optimised as usual, instead of for its size.
  list(APPEND profile_flags -fprofile-use=${NEREID_PROFILE_FOLDER} -fprofile-partial-training
    -Wno-missing-profile -Wno-coverage-mismatch
    # GCC 12 inlines more by a profile, and takes more for errors then; the other builds look at the same code.
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds> $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
else()
  message(FATAL_ERROR "NEREID_PROFILE is '${NEREID_PROFILE}' and takes 'generate' or 'use'")
endif()
target_compile_options(nereid_options INTERFACE ${profile_flags})

# Debugging information would name the folders that flags name, and build IDs depend on where programs look for libraries
# before they are installed.
add_compile_options(-gno-record-gcc-switches)
set(CMAKE_BUILD_RPATH $ORIGIN/../lib $ORIGIN/../../lib $ORIGIN/../../../lib)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
# In place of the compiler cache, which does not look at profiles.
foreach(language C CXX)
  set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/compile_relative.sh ${CMAKE_SOURCE_DIR})
endforeach()
