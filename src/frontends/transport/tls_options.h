// SPDX-License-Identifier: Apache-2.0
// TlsOptions: whether and how a port uses TLS. Plain values; their defaults are defined only here.
#ifndef NEREID_FRONTENDS_TRANSPORT_TLS_OPTIONS_H_
#define NEREID_FRONTENDS_TRANSPORT_TLS_OPTIONS_H_

#include <string>

namespace nereid::transport {

// Paths of PEM files.
struct TlsFiles {
  std::string certificate;  // of the server, followed by those of its authorities, if any
  std::string key;          // of the server, not encrypted
  std::string root;         // certificates of the authorities that signed the clients'
  bool mutual = false;      // clients must present a certificate, too
  // How the names of the options begin that name these files, so that errors can name them:
  // "--grpc-". Empty: there are no options.
  std::string option_prefix;
};

struct TlsOptions : TlsFiles {
  bool enabled = false;  // `mutual` enables it, too
};

}  // namespace nereid::transport

#endif  // NEREID_FRONTENDS_TRANSPORT_TLS_OPTIONS_H_
