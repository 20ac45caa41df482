# SPDX-License-Identifier: Apache-2.0
# Runs when CPack has laid out the packages: adds to each what Debian asks of every package, and puts
# into Debian's place what has one there.
set(here ${CPACK_NEREID_SOURCE}/packaging/debian)
set(maintainer ${CPACK_PACKAGE_CONTACT})
set(version ${CPACK_NEREID_VERSION})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)

foreach(entry IN LISTS CPACK_NEREID_PACKAGES)
  string(REGEX MATCH "^(.*)=(.*)$" _ ${entry})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${CMAKE_MATCH_1})
  set(package ${CMAKE_MATCH_2})
  set(documentation ${root}/usr/share/doc/${package})
  configure_file(${here}/copyright ${documentation}/copyright COPYONLY)
  configure_file(${here}/changelog.in ${documentation}/changelog.Debian @ONLY)
  execute_process(COMMAND gzip -9nf ${documentation}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND python3 ${CPACK_NEREID_SOURCE}/tools/image/packages.py deb ${root} ${package} ${version}
    COMMAND_ERROR_IS_FATAL ANY)
  if(EXISTS ${here}/${package}/lintian-overrides)
    configure_file(${here}/${package}/lintian-overrides
      ${root}/usr/share/lintian/overrides/${package} COPYONLY)
  endif()
endforeach()

set(zsh ${CPACK_TEMPORARY_DIRECTORY}/server/usr/share/zsh)
file(RENAME ${zsh}/site-functions ${zsh}/vendor-completions)
# CPack strips programs and shared libraries only.
execute_process(COMMAND strip --strip-debug --enable-deterministic-archives
  ${CPACK_TEMPORARY_DIRECTORY}/development/usr/lib/libnereid_backend_sdk.a COMMAND_ERROR_IS_FATAL ANY)

# The same files give the same archives, whenever they were built, and whatever the umask was.
execute_process(COMMAND chmod -R u=rwX,go=rX ${CPACK_TEMPORARY_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec
    touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} + COMMAND_ERROR_IS_FATAL ANY)
endif()
