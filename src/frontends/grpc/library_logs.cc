#include "frontends/grpc/library_logs.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <string>

#include "base/log.h"

namespace nereid {
namespace {

void WriteGrpcMessage(gpr_log_func_args* message) {
  if (message->severity == GPR_LOG_SEVERITY_ERROR) {
    LOG_WARNING << "gRPC library: " << message->message;
  } else {
    LOG_VERBOSE(1) << "gRPC library: " << message->message;
  }
}

void WriteProtobufMessage(google::protobuf::LogLevel level, const char* file, int line,
                          const std::string& message) {
  if (level == google::protobuf::LOGLEVEL_FATAL) {
    LOG_ERROR << "protobuf library: " << message;
  } else {
    LOG_VERBOSE(1) << "protobuf library: " << message;
  }
}

}  // namespace

void SendLibraryLogsToLog() {
  gpr_set_log_function(&WriteGrpcMessage);
  google::protobuf::SetLogHandler(&WriteProtobufMessage);
}

}  // namespace nereid
