# SPDX-License-Identifier: Apache-2.0
# Installs the service. Runs when the component `server` is installed, since only then PREFIX is known,
# with `source`: this folder. Configuration that somebody may have edited is left alone.
set(prefix ${CMAKE_INSTALL_PREFIX})
if(prefix STREQUAL "/usr")
  set(sysconfdir /etc)
else()
  set(sysconfdir ${prefix}/etc)
endif()
set(unit ${prefix}/lib/systemd/system/nereid.service)
set(user ${prefix}/lib/sysusers.d/nereid.conf)
set(settings ${sysconfdir}/default/nereid)

configure_file(${source}/nereid.service.in $ENV{DESTDIR}${unit} @ONLY)
configure_file(${source}/nereid.sysusers $ENV{DESTDIR}${user} COPYONLY)
if(NOT EXISTS $ENV{DESTDIR}${settings})
  configure_file(${source}/nereid.default $ENV{DESTDIR}${settings} COPYONLY)
endif()
foreach(file IN ITEMS ${unit} ${user} ${settings})
  message(STATUS "Installing: $ENV{DESTDIR}${file}")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${file})
endforeach()
