// SPDX-License-Identifier: Apache-2.0
#include <absl/status/status.h>

#include "base/status_macros.h"
#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

absl::Status OpenConsole(absl::string_view value, ConsoleSettings* console) {
  int64_t port = 0;
  RETURN_IF_ERROR(ParseInteger(value, 0, 65535, &port));
  console->allow = true;
  console->port = static_cast<uint16_t>(port);
  return absl::OkStatus();
}

}  // namespace

FlagGroup ConsoleFlags(Settings* s) {
  return {
      "Console",
      {Usual({"console-port", "<integer>", "",
              "Serve the console, a page that shows what the server does, on this port; 0 picks a "
              "free one. Its link is printed to standard error. Without this option there is no "
              "console.",
              [s](absl::string_view value) { return OpenConsole(value, &s->console); }}),
       StringFlag("console-address", &s->console.address,
                  "Address to listen on. The console has no TLS.")}};
}

}  // namespace nereid
