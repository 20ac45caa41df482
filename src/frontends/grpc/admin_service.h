// SPDX-License-Identifier: Apache-2.0
// AdminService: every unary RPC except inference: health, metadata, configuration, statistics,
// models. Works on messages and does not depend on gRPC calls. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_ADMIN_SERVICE_H_
#define NEREID_FRONTENDS_GRPC_ADMIN_SERVICE_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <google/protobuf/message.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "frontends/grpc/grpc_api.h"
#include "frontends/shared_memory/shared_memory_registry.h"
#include "frontends/tracing/tracing.h"
#include "server/server.h"

namespace nereid {

// How long a message of a method may be.
enum class MessageSize {
  // 64 KiB, of which an I/O thread reads whatever they hold: methods that are answered at once.
  kSmall,
  // As --max-admin-body-bytes says. This is so unless something else is said.
  kAdministration,
  // As long as gRPC allows: tensors and files.
  kAny,
};

class AdminService {
 public:
  // Must be called once, from any thread, with a response or an error for the client.
  using Reply = std::function<void(absl::Status status, std::string response)>;
  struct Method {
    // An empty message of the type that `run` takes.
    const google::protobuf::Message* request;
    // Answers one request, now or later. `request` is valid only during the call, which may take
    // from it what it needs. `client`: for methods that load or unload models; null for one that
    // stays.
    std::function<void(google::protobuf::Message* request, std::shared_ptr<ControlClient> client,
                       Reply reply)>
        run;
    // True if `run` answers at once and does little enough work for an I/O thread.
    bool at_once = false;
    // True if messages carry files.
    bool takes_files = false;

    MessageSize size() const {
      if (at_once) return MessageSize::kSmall;
      return takes_files ? MessageSize::kAny : MessageSize::kAdministration;
    }
  };
  // Each method's name, as Find knows it, and the method.
  using Methods = std::map<std::string, Method, std::less<>>;

  // Of the services of `api`. All must outlive the service.
  AdminService(GrpcApi api, Server* server, SharedMemoryRegistry* memory, Tracing* tracing);

  // The method called "/<package>.<service>/<rpc>" and that name, owned by the service.
  // UNIMPLEMENTED, to be answered without reading the request, if the server has no such method.
  absl::StatusOr<const Methods::value_type*> Find(absl::string_view full_name) const;
  const Methods& methods() const { return methods_; }

 private:
  const GrpcApi api_;
  Methods methods_;  // constant after construction
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_ADMIN_SERVICE_H_
