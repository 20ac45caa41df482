# What an installation looks like, relocatable as a whole:
#
#   bin/nereid, bin/tritonserver -> nereid     finds ../lib by its RUNPATH, ../backends by its own path
#   lib/libtritonserver.so
#   backends/NAME/libtriton_NAME.so            resolved against the library that loads it: no RUNPATH
#   include/triton/core/                       the public C headers
#   caches/NAME/libtritoncache_NAME.so         likewise
#   repoagents/NAME/libtritonrepoagent_NAME.so likewise
#
# `make stage` installs everything into build/stage. A package takes only the component `nereid`,
# which leaves out the backends, caches and agents made for tests.

set_target_properties(tritonserver PROPERTIES INSTALL_RPATH "")
install(TARGETS tritonserver LIBRARY DESTINATION lib COMPONENT nereid NAMELINK_SKIP)

if(TARGET nereid)
  set_target_properties(nereid PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS nereid RUNTIME DESTINATION bin COMPONENT nereid)
  install(CODE [[
    set(link "${CMAKE_INSTALL_PREFIX}/bin/tritonserver")
    file(CREATE_LINK nereid "$ENV{DESTDIR}${link}" SYMBOLIC)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${link}")]] COMPONENT nereid)
endif()

get_property(backends GLOBAL PROPERTY NEREID_BACKENDS)
foreach(backend IN LISTS backends)
  set(component nereid)
  if(backend MATCHES "^(repeat|testing)$")
    set(component testing)
  endif()
  install(TARGETS triton_${backend}
    LIBRARY DESTINATION backends/${backend} COMPONENT ${component} NAMELINK_SKIP)
  # Libraries that the backend brings along: its build lays them beside it.
  install(DIRECTORY ${CMAKE_BINARY_DIR}/backends/${backend}/
    DESTINATION backends/${backend} COMPONENT ${component}
    FILES_MATCHING PATTERN "lib*.so*" PATTERN "libtriton_*" EXCLUDE PATTERN "CMakeFiles" EXCLUDE)
endforeach()

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/triton DESTINATION include COMPONENT nereid
  FILES_MATCHING PATTERN "*.h")
get_property(caches GLOBAL PROPERTY NEREID_CACHES)
foreach(cache IN LISTS caches)
  set(component nereid)
  if(cache STREQUAL "testing")
    set(component testing)
  endif()
  install(TARGETS tritoncache_${cache}
    LIBRARY DESTINATION caches/${cache} COMPONENT ${component} NAMELINK_SKIP)
endforeach()
get_property(repoagents GLOBAL PROPERTY NEREID_REPOAGENTS)
foreach(agent IN LISTS repoagents)
  set(component nereid)
  if(agent STREQUAL "testing")
    set(component testing)
  endif()
  install(TARGETS tritonrepoagent_${agent}
    LIBRARY DESTINATION repoagents/${agent} COMPONENT ${component} NAMELINK_SKIP)
endforeach()

# What has to be built before anything can be installed; leaves out the tests.
add_custom_target(staged)
add_dependencies(staged tritonserver)
if(TARGET nereid)
  add_dependencies(staged nereid)
endif()
foreach(backend IN LISTS backends)
  add_dependencies(staged triton_${backend})
endforeach()
if(TARGET nereid_python_native)
  add_dependencies(staged nereid_python_native)
endif()
foreach(cache IN LISTS caches)
  add_dependencies(staged tritoncache_${cache})
endforeach()
foreach(agent IN LISTS repoagents)
  add_dependencies(staged tritonrepoagent_${agent})
endforeach()
