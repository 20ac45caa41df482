// SPDX-License-Identifier: Apache-2.0
// The options of TLS, which all ports have alike.
#ifndef NEREID_APPS_NEREID_FLAGS_TLS_FLAGS_H_
#define NEREID_APPS_NEREID_FLAGS_TLS_FLAGS_H_

#include <string>
#include <vector>

#include "frontends/transport/tls_options.h"
#include "options/flag.h"

namespace nereid {

// Rows whose names begin with `port` ("http"), which serves `protocol` ("HTTP").
std::vector<Flag> TlsFlags(const std::string& port, const std::string& protocol,
                           transport::TlsOptions* tls);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_FLAGS_TLS_FLAGS_H_
