// SPDX-License-Identifier: Apache-2.0
// The ports of a server: HTTP, gRPC and metrics, for programs that embed the server by the C API of
// triton/core/tritonserver.h. The functions are in libnereid_frontends.so, which lies beside
// libtritonserver.so.
#ifndef NEREID_INCLUDE_NEREID_FRONTENDS_H_
#define NEREID_INCLUDE_NEREID_FRONTENDS_H_

#include <stddef.h>
#include <stdint.h>

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The ports of one server.
struct NEREID_Frontends;

/// Opens ports of a server. Each option is a NUL-terminated text "--name=value", as on the command
/// line of the program `nereid`; a port is opened if its option is given: "--http-port=8000",
/// "--grpc-port=8001", "--metrics-port=8002", "--console-port=8003", "--tfs-http-port=8501",
/// "--tfs-grpc-port=8500"; 0 picks a free port. Options that are about the server itself, such as
/// "--model-repository", are refused: they are set when the server is made. On success the caller
/// ends the frontends by NEREID_FrontendsStop, before the server is stopped. Errors: INVALID_ARG
/// names the option that is wrong, UNAVAILABLE or INTERNAL the port that cannot be opened; then
/// none is open.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* NEREID_FrontendsStart(
    struct TRITONSERVER_Server* server, const char* const* options, size_t option_count,
    struct NEREID_Frontends** frontends);

/// Returns the number of an open port; protocol is "http", "grpc", "metrics", "console",
/// "tfs-http" or "tfs-grpc". Errors: NOT_FOUND if that port is not open.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* NEREID_FrontendsPort(
    struct NEREID_Frontends* frontends, const char* protocol, uint16_t* port);

/// Closes the ports and frees the frontends. New connections are refused; requests in flight have
/// until the server's exit time-out to end. NULL is allowed. Errors: INTERNAL if something hangs;
/// then the frontends are left as they are, and the server must not be deleted.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* NEREID_FrontendsStop(
    struct NEREID_Frontends* frontends);

/// Returns the names of all options that NEREID_FrontendsStart takes, one a line, without the
/// dashes. Static string.
TRITONSERVER_DECLSPEC const char* NEREID_FrontendsOptions(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // NEREID_INCLUDE_NEREID_FRONTENDS_H_
