#include "frontends/grpc/grpc_log.h"

#include <grpc/support/log.h>

#include "base/log.h"

namespace nereid {
namespace {

void WriteToLog(gpr_log_func_args* message) {
  if (message->severity == GPR_LOG_SEVERITY_ERROR) {
    LOG_WARNING << "gRPC library: " << message->message;
  } else {
    LOG_VERBOSE(1) << "gRPC library: " << message->message;
  }
}

}  // namespace

void SendGrpcLogToLog() { gpr_set_log_function(&WriteToLog); }

}  // namespace nereid
