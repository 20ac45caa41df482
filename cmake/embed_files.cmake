# SPDX-License-Identifier: Apache-2.0
# Makes a C++ source of files, with a function that returns the bytes of each:
#   cmake -DFOLDER=... -DFILES=a.html,b.js -DINCLUDE=HEADER -DNAMESPACE=... -DOUTPUT=... -P embed_files.cmake
# HEADER declares the functions, or brings absl::string_view. The one of a.html is called a_html.
string(REPLACE "," ";" files "${FILES}")
set(text "#include \"${INCLUDE}\"\n\nnamespace ${NAMESPACE} {\n")
foreach(file IN LISTS files)
  file(READ "${FOLDER}/${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(MAKE_C_IDENTIFIER "${file}" name)
  string(APPEND text
    "\nabsl::string_view ${name}() {\n"
    "  static constexpr unsigned char kBytes[] = {${bytes}};\n"
    "  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};\n}\n")
endforeach()
string(APPEND text "\n}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUTPUT}" "${text}")
