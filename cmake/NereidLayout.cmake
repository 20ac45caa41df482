# SPDX-License-Identifier: Apache-2.0
# An installation has one of two layouts, which differ in where the plug-ins lie: backends, response
# caches and repository agents.
#
#   relocatable   backends/NAME/...               Triton's; `make stage`: cmake/NereidStage.cmake
#   of Unix       lib/nereid/backends/NAME/...    `make install`, packages: cmake/NereidInstall.cmake
#
# The program finds either from its own place (src/base/installation.h). The layout of Unix consists of
# components, one for each Debian package, which `cmake --install` without --component leaves out:
#
#   server        the program, its manual pages and completions, the service
#   library       libtritonserver.so with the caches and agents
#   development   headers, the SDK for backends, CMake package, pkg-config file
#   backend-NAME

# Installs libtritonserver.so as it is in the build's lib/: what the linker made satisfies references to
# C++ from anybody (abi/export.map). Behind `install(TARGETS tritonserver ...)`, which may strip it.
find_program(NEREID_PYTHON python3 REQUIRED)
set(NEREID_HIDE_PRIVATE_SYMBOLS ${NEREID_PYTHON} ${CMAKE_SOURCE_DIR}/tools/hide_private_symbols.py)
list(JOIN NEREID_HIDE_PRIVATE_SYMBOLS "\" \"" nereid_hide_private_symbols)
set(nereid_hide_private_symbols "
  execute_process(COMMAND \"${nereid_hide_private_symbols}\"
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/libtritonserver.so\" COMMAND_ERROR_IS_FATAL ANY)")

# What only tests load: only `make stage` installs it.
set(nereid_test_plugins "^(backends/(repeat|testing)|(caches|repoagents)/testing)(/|$)")

# nereid_install(KIND/NAME[/FOLDER] TARGETS ... | FILES ... | DIRECTORY ... [FURTHER args of install()...])
#   installs a part of the plug-in KIND/NAME (backends/python, caches/local) in both layouts
function(nereid_install folder)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "TARGETS;FILES;DIRECTORY;FURTHER")
  foreach(what TARGETS FILES DIRECTORY)
    if(NOT ARG_${what})
      continue()
    endif()
    if(folder MATCHES ${nereid_test_plugins})
      install(${what} ${ARG_${what}} DESTINATION ${folder} COMPONENT testing ${ARG_FURTHER})
      continue()
    endif()
    install(${what} ${ARG_${what}} DESTINATION ${folder} COMPONENT nereid ${ARG_FURTHER})
    set(component library)
    if(folder MATCHES "^backends/([^/]+)")
      set(component backend-${CMAKE_MATCH_1})
    endif()
    install(${what} ${ARG_${what}} DESTINATION lib/nereid/${folder} COMPONENT ${component}
      EXCLUDE_FROM_ALL ${ARG_FURTHER})
  endforeach()
endfunction()
