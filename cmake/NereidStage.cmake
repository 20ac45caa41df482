# SPDX-License-Identifier: Apache-2.0
# The relocatable layout of an installation (the other one: NereidLayout.cmake):
#
#   bin/nereid, bin/tritonserver -> nereid     finds ../lib by its RUNPATH, ../backends by its own path
#   libexec/nereid-workshop                    `nereid bench` and other commands that a server does without
#   libexec/nereid-backend-check               the processes of `nereid backend-check`
#   libexec/nereid-cloud, libexec/cloud/       reads models from S3, with its libraries: `make stage CLOUD=yes`
#   lib/libtritonserver.so
#   backends/NAME/libtriton_NAME.so            resolved against the library that loads it: no RUNPATH
#   lib/libnereid_frontends.so                 the ports, for programs that embed the server
#   include/triton/core/, include/nereid/      the public C headers
#   python/nereid_server/                      the Python package, with the server in the process
#   caches/NAME/libtritoncache_NAME.so         likewise
#   repoagents/NAME/libtritonrepoagent_NAME.so likewise
#
# `make stage` installs everything into build/stage. It consists of components:
#
#   nereid      what serves: the program, the library, the plug-ins; `make run` builds no more
#   tools       libexec/
#   cloud       of libexec/, what reads models from S3
#   embedding   lib/libnereid_frontends.so and headers, for programs that embed the server
#   python      the Python package
#   testing     backends, caches and agents made for tests

set_target_properties(tritonserver PROPERTIES INSTALL_RPATH "")
install(TARGETS tritonserver LIBRARY DESTINATION lib COMPONENT nereid NAMELINK_SKIP)
install(CODE "${nereid_hide_private_symbols}" COMPONENT nereid)

if(TARGET nereid)
  set_target_properties(nereid PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS nereid RUNTIME DESTINATION bin COMPONENT nereid)
  install(CODE [[
    set(link "${CMAKE_INSTALL_PREFIX}/bin/tritonserver")
    file(CREATE_LINK nereid "$ENV{DESTDIR}${link}" SYMBOLIC)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${link}")]] COMPONENT nereid)
  # From libexec/ and from lib/nereid/libexec/.
  set(nereid_helpers nereid-backend-check nereid-workshop)
  set_target_properties(${nereid_helpers} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib:$ORIGIN/../..")
  install(TARGETS ${nereid_helpers} RUNTIME DESTINATION libexec COMPONENT tools)
  if(TARGET nereid-cloud)
    get_property(arrow_libraries GLOBAL PROPERTY NEREID_ARROW_LIBRARIES)
    install(TARGETS nereid-cloud RUNTIME DESTINATION libexec COMPONENT cloud)
    install(FILES ${arrow_libraries} DESTINATION libexec/cloud COMPONENT cloud)
  endif()
endif()

if(TARGET nereid_frontends)
  install(TARGETS nereid_frontends LIBRARY DESTINATION lib COMPONENT embedding NAMELINK_SKIP)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/nereid DESTINATION include COMPONENT embedding
    FILES_MATCHING PATTERN "*.h")
endif()

# The Python package; `python/` may be put on PYTHONPATH.
if(TARGET nereid_python_api)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/nereid_server DESTINATION python COMPONENT python
    PATTERN "__pycache__" EXCLUDE)
endif()

get_property(plugins GLOBAL PROPERTY NEREID_PLUGINS)
foreach(plugin IN LISTS plugins)
  get_target_property(folder ${plugin} NEREID_FOLDER)
  nereid_install(${folder} TARGETS ${plugin})
  # Libraries that a backend brings along: its build lays them beside it, and folders without a dot
  # in their names.
  if(folder MATCHES "^backends/")
    nereid_install(${folder} DIRECTORY ${CMAKE_BINARY_DIR}/${folder}/
      FURTHER FILES_MATCHING PATTERN "lib*.so*" PATTERN "libtriton_*" EXCLUDE
        REGEX "/backends/[^/]+/[^/.]+$" EXCLUDE)
  endif()
endforeach()

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/triton ${CMAKE_SOURCE_DIR}/include/nereid
  DESTINATION include COMPONENT embedding
  FILES_MATCHING PATTERN "*.h")

# What has to be built before anything can be installed, without the tests; and what the component `nereid` needs.
add_custom_target(staged)
add_custom_target(serving)
set(serving tritonserver nereid nereid_python_native)
foreach(plugin IN LISTS plugins)
  get_target_property(folder ${plugin} NEREID_FOLDER)
  if(NOT folder MATCHES ${nereid_test_plugins})
    list(APPEND serving ${plugin})
  endif()
endforeach()
foreach(part ${serving} ${plugins} ${nereid_helpers} nereid-cloud nereid_frontends nereid_python_native nereid_python_api
             simulated_cuda simulated_cudart simulated_nvml)
  if(TARGET ${part})
    add_dependencies(staged ${part})
    if(part IN_LIST serving)
      add_dependencies(serving ${part})
    endif()
  endif()
endforeach()
