// SPDX-License-Identifier: Apache-2.0
// The addresses of all ports, which are taken before models are loaded. Functions without state.
#ifndef NEREID_APPS_NEREID_BOUND_PORTS_H_
#define NEREID_APPS_NEREID_BOUND_PORTS_H_

#include <absl/status/status.h>

#include "settings.h"

namespace nereid {

// Takes the addresses of the ports that `*settings` ask for, and leaves them there for Services.
// Until these start, clients are refused as if nobody were there. An error names the port.
absl::Status BindPorts(Settings* settings);

// `status` of a port, with the name of its service.
absl::Status ServiceFailed(const char* service, const absl::Status& status);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_BOUND_PORTS_H_
