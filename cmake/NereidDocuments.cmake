# SPDX-License-Identifier: Apache-2.0
# Manual pages and completions of the layout of Unix. The program itself writes them, from its tables
# of options and commands; the target `documents` asks it to.
set(documents ${CMAKE_BINARY_DIR}/documents)
file(MAKE_DIRECTORY ${documents})
set(document_files "")

foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${documents}/nereid.${shell}
    COMMAND nereid completion ${shell} > ${documents}/nereid.${shell}
    DEPENDS nereid nereid-workshop VERBATIM)
  list(APPEND document_files ${documents}/nereid.${shell})
endforeach()
install(FILES ${documents}/nereid.bash DESTINATION share/bash-completion/completions RENAME nereid
  COMPONENT server EXCLUDE_FROM_ALL)
install(FILES ${documents}/nereid.fish DESTINATION share/fish/vendor_completions.d
  COMPONENT server EXCLUDE_FROM_ALL)
install(FILES ${documents}/nereid.zsh DESTINATION share/zsh/site-functions RENAME _nereid
  COMPONENT server EXCLUDE_FROM_ALL)

# One page for each command, and nereid(1).
set(pages nereid)
foreach(command backend-check bench capacity check completion explain help man probe replay run-model top tune)
  list(APPEND pages nereid-${command})
endforeach()
foreach(page IN LISTS pages)
  string(REGEX REPLACE "^nereid-?" "" command ${page})
  # No time in the archive, so that the same page is the same file.
  add_custom_command(OUTPUT ${documents}/${page}.1.gz
    COMMAND nereid man ${command} > ${documents}/${page}.1
    COMMAND gzip -9nf ${documents}/${page}.1
    DEPENDS nereid nereid-workshop VERBATIM)
  list(APPEND document_files ${documents}/${page}.1.gz)
  install(FILES ${documents}/${page}.1.gz DESTINATION share/man/man1
    COMPONENT server EXCLUDE_FROM_ALL)
endforeach()

foreach(link share/man/man1/tritonserver.1.gz share/bash-completion/completions/tritonserver)
  cmake_path(GET link FILENAME name)
  string(REPLACE tritonserver nereid target ${name})
  install(CODE "
    set(link \"\${CMAKE_INSTALL_PREFIX}/${link}\")
    file(CREATE_LINK ${target} \"\$ENV{DESTDIR}\${link}\" SYMBOLIC)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${link}\")" COMPONENT server EXCLUDE_FROM_ALL)
endforeach()

add_custom_target(documents DEPENDS ${document_files})
