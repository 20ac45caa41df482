// Where the messages of the gRPC and protobuf libraries themselves go. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_LIBRARY_LOGS_H_
#define NEREID_FRONTENDS_GRPC_LIBRARY_LOGS_H_

namespace nereid {

// From now on, and for the whole process, into the log. gRPC's errors become warnings, for they
// concern single connections; protobuf's are about messages whose senders get an error anyway, so
// they, and all the rest, are verbose (level 1). GRPC_VERBOSITY says what gRPC reports at all.
void SendLibraryLogsToLog();

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_LIBRARY_LOGS_H_
