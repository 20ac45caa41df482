# SPDX-License-Identifier: Apache-2.0
# Where Python.h is. Modules of ours use the limited API of Python 3.9, which every later header has.
set(suffixes "")
foreach(minor RANGE 14 9 -1)
  list(APPEND suffixes python3.${minor})
endforeach()
find_path(NEREID_PYTHON_INCLUDE Python.h PATH_SUFFIXES ${suffixes})
