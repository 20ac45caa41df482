// SPDX-License-Identifier: Apache-2.0
#include "flags/tls_flags.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "options/flag_kinds.h"

namespace nereid {
namespace {

// Client certificates need TLS, so this enables TLS whatever value is given.
Flag MutualTls(std::string name, transport::TlsOptions* tls) {
  Flag flag = BooleanFlag(std::move(name), &tls->mutual,
                          "TLS with client certificates; giving it turns TLS on.");
  flag.set = [tls, set = std::move(flag.set)](absl::string_view value) {
    absl::Status status = set(value);
    if (status.ok()) tls->enabled = true;
    return status;
  };
  return flag;
}

}  // namespace

std::vector<Flag> TlsFlags(const std::string& port, const std::string& protocol,
                           transport::TlsOptions* tls) {
  tls->option_prefix = absl::StrCat("--", port, "-");
  return {BooleanFlag(absl::StrCat(port, "-use-ssl"), &tls->enabled,
                      absl::StrCat("Serve ", protocol, " over TLS.")),
          MutualTls(absl::StrCat(port, "-use-ssl-mutual"), tls),
          OfFile(StringFlag(absl::StrCat(port, "-server-cert"), &tls->certificate,
                            "File of the PEM server certificate.")),
          OfFile(StringFlag(absl::StrCat(port, "-server-key"), &tls->key,
                            "File of the PEM server key.")),
          OfFile(StringFlag(absl::StrCat(port, "-root-cert"), &tls->root,
                            "File of the PEM root certificate."))};
}

}  // namespace nereid
