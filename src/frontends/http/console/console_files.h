// SPDX-License-Identifier: Apache-2.0
// The files of the console's page, which are part of the program (console/dist). Pure functions,
// thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_FILES_H_
#define NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_FILES_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

namespace nereid {

// All members live as long as the program.
struct ConsoleFile {
  absl::string_view path;  // of a request: "/console.js"
  absl::string_view content_type;
  absl::string_view bytes;
};

absl::Span<const ConsoleFile> ConsoleFiles();

// Null if there is no such file. Paths are compared as they were sent.
const ConsoleFile* FindConsoleFile(absl::string_view path);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CONSOLE_CONSOLE_FILES_H_
