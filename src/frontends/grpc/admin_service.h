// AdminService: every RPC but inference: health, metadata, configuration, statistics, models. Works
// on serialised messages and knows nothing of gRPC calls. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_ADMIN_SERVICE_H_
#define NEREID_FRONTENDS_GRPC_ADMIN_SERVICE_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <functional>
#include <map>
#include <string>

#include "server/server.h"

namespace nereid {

class AdminService {
 public:
  // To be called once, from any thread, with a response or an error for the client.
  using Reply = std::function<void(absl::Status status, std::string response)>;
  struct Method {
    // Answers one request, now or later. `request` is there for the call only.
    std::function<void(absl::string_view request, Reply reply)> run;
    // `run` answers at once, without work that an I/O thread has no time for.
    bool at_once = false;
  };

  // `server` must outlive this.
  explicit AdminService(Server* server);

  // The method called "/<package>.<service>/<rpc>", owned by this. UNIMPLEMENTED, to be answered
  // without reading the request, for one that this server does not have.
  absl::StatusOr<const Method*> Find(absl::string_view full_name) const;

 private:
  std::map<std::string, Method, std::less<>> methods_;  // constant after construction
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_ADMIN_SERVICE_H_
