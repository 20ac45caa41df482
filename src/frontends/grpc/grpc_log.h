// Where the messages of the gRPC library itself go. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_GRPC_LOG_H_
#define NEREID_FRONTENDS_GRPC_GRPC_LOG_H_

namespace nereid {

// From now on, and for the whole process, into the log: errors as warnings, for they concern single
// connections; the rest at verbose level 1. GRPC_VERBOSITY says what the library reports at all.
void SendGrpcLogToLog();

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_GRPC_LOG_H_
