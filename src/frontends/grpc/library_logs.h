// Redirects the messages of the gRPC and protobuf libraries. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_LIBRARY_LOGS_H_
#define NEREID_FRONTENDS_GRPC_LIBRARY_LOGS_H_

namespace nereid {

// Redirects them to the log from now on, for the whole process. gRPC's errors become warnings,
// because they concern single connections. protobuf's errors concern messages whose senders get an
// error anyway, so these and all other messages are verbose (level 1). GRPC_VERBOSITY decides what
// gRPC reports at all.
void SendLibraryLogsToLog();

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_LIBRARY_LOGS_H_
