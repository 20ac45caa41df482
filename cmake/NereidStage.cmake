# The relocatable layout of an installation (the other one: NereidLayout.cmake):
#
#   bin/nereid, bin/tritonserver -> nereid     finds ../lib by its RUNPATH, ../backends by its own path
#   libexec/nereid-backend-check               the processes of `nereid backend-check`
#   lib/libtritonserver.so
#   backends/NAME/libtriton_NAME.so            resolved against the library that loads it: no RUNPATH
#   lib/libnereid_frontends.so                 the ports, for programs that embed the server
#   include/triton/core/, include/nereid/      the public C headers
#   python/nereid/                             the Python package, with the server in the process
#   caches/NAME/libtritoncache_NAME.so         likewise
#   repoagents/NAME/libtritonrepoagent_NAME.so likewise
#
# `make stage` installs everything into build/stage. Who hands it on takes only the component
# `nereid`, which leaves out the backends, caches and agents made for tests.

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
  # What `nereid backend-check` runs backends in.
  # From libexec/ and from lib/nereid/libexec/.
  set_target_properties(nereid-backend-check PROPERTIES INSTALL_RPATH "$ORIGIN/../lib:$ORIGIN/../..")
  install(TARGETS nereid-backend-check RUNTIME DESTINATION libexec COMPONENT nereid)
endif()

if(TARGET nereid_frontends)
  install(TARGETS nereid_frontends LIBRARY DESTINATION lib COMPONENT nereid NAMELINK_SKIP)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/nereid DESTINATION include COMPONENT nereid
    FILES_MATCHING PATTERN "*.h")
endif()

# The Python package; `python/` may be put on PYTHONPATH.
if(TARGET nereid_python_api)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/nereid DESTINATION python COMPONENT python
    PATTERN "__pycache__" EXCLUDE)
endif()

get_property(backends GLOBAL PROPERTY NEREID_BACKENDS)
foreach(backend IN LISTS backends)
  nereid_install(backends/${backend} TARGETS triton_${backend})
  # Libraries that the backend brings along: its build lays them beside it, and folders without a dot
  # in their names.
  nereid_install(backends/${backend} DIRECTORY ${CMAKE_BINARY_DIR}/backends/${backend}/
    FURTHER FILES_MATCHING PATTERN "lib*.so*" PATTERN "libtriton_*" EXCLUDE
      REGEX "/backends/[^/]+/[^/.]+$" EXCLUDE)
endforeach()

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/triton ${CMAKE_SOURCE_DIR}/include/nereid
  DESTINATION include COMPONENT nereid
  FILES_MATCHING PATTERN "*.h")
get_property(caches GLOBAL PROPERTY NEREID_CACHES)
foreach(cache IN LISTS caches)
  nereid_install(caches/${cache} TARGETS tritoncache_${cache})
endforeach()
get_property(repoagents GLOBAL PROPERTY NEREID_REPOAGENTS)
foreach(agent IN LISTS repoagents)
  nereid_install(repoagents/${agent} TARGETS tritonrepoagent_${agent})
endforeach()

# What has to be built before anything can be installed; leaves out the tests.
add_custom_target(staged)
add_dependencies(staged tritonserver)
if(TARGET nereid)
  add_dependencies(staged nereid nereid-backend-check)
endif()
foreach(backend IN LISTS backends)
  add_dependencies(staged triton_${backend})
endforeach()
foreach(optional nereid_python_native nereid_python_api nereid_frontends)
  if(TARGET ${optional})
    add_dependencies(staged ${optional})
  endif()
endforeach()
foreach(cache IN LISTS caches)
  add_dependencies(staged tritoncache_${cache})
endforeach()
foreach(agent IN LISTS repoagents)
  add_dependencies(staged tritonrepoagent_${agent})
endforeach()
