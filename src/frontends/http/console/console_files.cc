// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/console/console_files.h"

#include "frontends/http/console/console_bytes.h"

namespace nereid {

absl::Span<const ConsoleFile> ConsoleFiles() {
  static const ConsoleFile kFiles[] = {
      {"/", "text/html; charset=utf-8", console_bytes::index_html()},
      {"/console.js", "text/javascript; charset=utf-8", console_bytes::console_js()},
      {"/console.css", "text/css; charset=utf-8", console_bytes::console_css()},
      {"/favicon.svg", "image/svg+xml", console_bytes::favicon_svg()},
  };
  return kFiles;
}

const ConsoleFile* FindConsoleFile(absl::string_view path) {
  for (const ConsoleFile& file : ConsoleFiles()) {
    if (file.path == path) return &file;
  }
  return nullptr;
}

}  // namespace nereid
