# SPDX-License-Identifier: Apache-2.0
# The layout of Unix (NereidLayout.cmake), where the plug-ins have been placed already:
#
#   bin/nereid, bin/tritonserver -> nereid   finds ../lib by its RUNPATH, ../lib/nereid by its own path
#   lib/libtritonserver.so                   backends ask for this name, so it has no version
#   lib/nereid/{backends,caches,repoagents}/NAME/
#   lib/nereid/libexec/nereid-workshop       `nereid bench` and other commands that a server does without
#   lib/nereid/libexec/nereid-backend-check  the processes of `nereid backend-check`
#   include/triton/core/, include/nereid/*.h        the public C headers
#   include/nereid/backends/sdk/             the SDK for backends in C++, with lib/libnereid_backend_sdk.a
#   lib/cmake/Nereid/, lib/pkgconfig/nereid.pc
#   lib/systemd/system/nereid.service, lib/sysusers.d/nereid.conf, etc/default/nereid (/etc for /usr)
#   share/man/man1/, share/{bash-completion,zsh,fish}/...
include(CMakePackageConfigHelpers)

install(TARGETS tritonserver LIBRARY DESTINATION lib COMPONENT library EXCLUDE_FROM_ALL)
install(CODE "${nereid_hide_private_symbols}" COMPONENT library EXCLUDE_FROM_ALL)
if(TARGET nereid)
  install(TARGETS nereid RUNTIME DESTINATION bin COMPONENT server EXCLUDE_FROM_ALL)
  install(TARGETS ${nereid_helpers}
    RUNTIME DESTINATION lib/nereid/libexec COMPONENT server EXCLUDE_FROM_ALL)
  install(CODE [[
    set(link "${CMAKE_INSTALL_PREFIX}/bin/tritonserver")
    file(CREATE_LINK nereid "$ENV{DESTDIR}${link}" SYMBOLIC)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${link}")]] COMPONENT server EXCLUDE_FROM_ALL)
  include(NereidDocuments)
  install(CODE "set(source ${CMAKE_SOURCE_DIR}/packaging/service)" COMPONENT server EXCLUDE_FROM_ALL)
  install(SCRIPT packaging/service/install.cmake COMPONENT server EXCLUDE_FROM_ALL)
endif()

# For programs that embed the server, and for authors of backends.
install(DIRECTORY include/triton DESTINATION include COMPONENT development EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.h")
install(FILES include/nereid/backend.h include/nereid/server.h DESTINATION include/nereid
  COMPONENT development EXCLUDE_FROM_ALL)
install(TARGETS nereid_backend_sdk ARCHIVE DESTINATION lib COMPONENT development EXCLUDE_FROM_ALL)
file(GLOB sdk_headers ${CMAKE_SOURCE_DIR}/backends/sdk/*.h)
install(FILES ${sdk_headers} DESTINATION include/nereid/backends/sdk
  COMPONENT development EXCLUDE_FROM_ALL)

set(installed ${CMAKE_BINARY_DIR}/installed)
configure_package_config_file(packaging/cmake/NereidConfig.cmake.in ${installed}/NereidConfig.cmake
  INSTALL_DESTINATION lib/cmake/Nereid
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${installed}/NereidConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${installed}/NereidConfig.cmake ${installed}/NereidConfigVersion.cmake
  DESTINATION lib/cmake/Nereid COMPONENT development EXCLUDE_FROM_ALL)
configure_file(packaging/nereid.pc.in ${installed}/nereid.pc @ONLY)
install(FILES ${installed}/nereid.pc DESTINATION lib/pkgconfig COMPONENT development EXCLUDE_FROM_ALL)

# What `make install` installs (tools/install.sh).
set(NEREID_COMPONENTS library development)
if(TARGET nereid)
  list(APPEND NEREID_COMPONENTS server)
endif()
foreach(plugin IN LISTS plugins)
  get_target_property(folder ${plugin} NEREID_FOLDER)
  if(folder MATCHES "^backends/" AND NOT folder MATCHES ${nereid_test_plugins})
    string(REPLACE "backends/" "backend-" component ${folder})
    list(APPEND NEREID_COMPONENTS ${component})
  endif()
endforeach()
list(JOIN NEREID_COMPONENTS "\n" components)
file(CONFIGURE OUTPUT ${installed}/components CONTENT "@components@\n" @ONLY)
