# Makes a C++ source of files: cmake -DFOLDER=... -DFILES=a.html,b.js -DOUTPUT=... -P embed_files.cmake
string(REPLACE "," ";" files "${FILES}")
set(text "#include \"frontends/http/console/console_bytes.h\"\n\nnamespace nereid::console_bytes {\n")
foreach(file IN LISTS files)
  file(READ "${FOLDER}/${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(MAKE_C_IDENTIFIER "${file}" name)
  string(APPEND text
    "\nabsl::string_view ${name}() {\n"
    "  static constexpr unsigned char kBytes[] = {${bytes}};\n"
    "  return {reinterpret_cast<const char*>(kBytes), sizeof kBytes};\n}\n")
endforeach()
string(APPEND text "\n}  // namespace nereid::console_bytes\n")
file(WRITE "${OUTPUT}" "${text}")
