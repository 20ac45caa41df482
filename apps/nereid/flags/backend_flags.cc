// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include "flags/flag_table.h"
#include "options/flag_kinds.h"

namespace nereid {
namespace {

absl::Status AddBackendConfig(absl::string_view value, BackendSettings* settings) {
  const size_t comma = value.find(',');
  const size_t equals = value.find('=');
  std::string backend;
  absl::string_view setting = value;
  // A comma after the '=' belongs to the value and does not end a backend name.
  if (comma != absl::string_view::npos && (equals == absl::string_view::npos || comma < equals)) {
    backend = std::string(value.substr(0, comma));
    setting = value.substr(comma + 1);
    if (backend.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("No backend specified. --backend-config option format is <backend "
                       "name>,<setting>=<value> or <setting>=<value>. Got ",
                       value, "\n"));
    }
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(setting, absl::MaxSplits('=', 1));
  // As in Triton, an empty value is no value.
  if (setting.find('=') == absl::string_view::npos || parts.first.empty() || parts.second.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--backend-config option format is '<backend name>,<setting>=<value>'. Got ", value, "\n"));
  }
  (*settings)[backend][std::string(parts.first)] = std::string(parts.second);
  return absl::OkStatus();
}

}  // namespace

FlagGroup BackendFlags(Settings* s) {
  ServerOptions* const o = &s->server;
  return {
      "Backends",
      {WithDefaultText("../lib/nereid/backends or ../backends beside the executable",
                       OfFolder(StringFlag("backend-directory", &o->backend_directory,
                                           "Folder of backends: <name>/libtriton_<name>.so."))),
       Repeated({"backend-config", "<string>", "",
                 "<backend>,<setting>=<value>, or <setting>=<value> for all backends; for instance "
                 "default-max-batch-size=8. May be given several times.",
                 [o](absl::string_view value) {
                   return AddBackendConfig(value, &o->backend_settings);
                 }})}};
}

}  // namespace nereid
