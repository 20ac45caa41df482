// AdminService: every unary RPC except inference: health, metadata, configuration, statistics,
// models. Works on serialised messages and does not depend on gRPC calls. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_ADMIN_SERVICE_H_
#define NEREID_FRONTENDS_GRPC_ADMIN_SERVICE_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <functional>
#include <map>
#include <string>

#include "frontends/shared_memory/shared_memory_registry.h"
#include "frontends/tracing/tracing.h"
#include "server/server.h"

namespace nereid {

class AdminService {
 public:
  // Must be called once, from any thread, with a response or an error for the client.
  using Reply = std::function<void(absl::Status status, std::string response)>;
  struct Method {
    // Answers one request, now or later. `request` is valid only during the call.
    std::function<void(absl::string_view request, Reply reply)> run;
    // True if `run` answers at once and does little enough work for an I/O thread.
    bool at_once = false;
  };

  // All must outlive the service.
  AdminService(Server* server, SharedMemoryRegistry* memory, Tracing* tracing);

  // The method called "/<package>.<service>/<rpc>", owned by the service. UNIMPLEMENTED, to be
  // answered without reading the request, if the server has no such method.
  absl::StatusOr<const Method*> Find(absl::string_view full_name) const;

 private:
  std::map<std::string, Method, std::less<>> methods_;  // constant after construction
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_ADMIN_SERVICE_H_
