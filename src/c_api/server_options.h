// SPDX-License-Identifier: Apache-2.0
// Complete type behind TRITONSERVER_ServerOptions. Thread-compatible.
#ifndef NEREID_C_API_SERVER_OPTIONS_H_
#define NEREID_C_API_SERVER_OPTIONS_H_

#include "server/options.h"
#include "triton/core/tritonserver.h"

struct TRITONSERVER_ServerOptions {
  // The defaults of the C API, some of which differ from those of the executable.
  TRITONSERVER_ServerOptions();

  nereid::ServerOptions options;
};

#endif  // NEREID_C_API_SERVER_OPTIONS_H_
