// SPDX-License-Identifier: Apache-2.0
// Makes a method of AdminService of a typed function. Pure.
#ifndef NEREID_FRONTENDS_GRPC_BIND_METHOD_H_
#define NEREID_FRONTENDS_GRPC_BIND_METHOD_H_

#include <absl/status/status.h>

#include <memory>
#include <utility>

#include "base/clock.h"
#include "frontends/grpc/admin_service.h"
#include "frontends/grpc/reports_to_proto.h"
#include "server/server.h"

namespace nereid {

// The function works with `object`: a pointer, or something that has it.
template <typename Object, typename Request, typename Response>
AdminService::Method BindMethod(Object object,
                                absl::Status (*method)(Object, const Request&, Response*)) {
  return {&Request::default_instance(),
          [object, method](google::protobuf::Message* request, std::shared_ptr<ControlClient>,
                           const AdminService::Reply& reply) {
            Response response;
            absl::Status status = method(object, static_cast<const Request&>(*request), &response);
            MakeUtf8(&response);
            reply(std::move(status), response.SerializeAsString());
          }};
}

// A call of a method that needs a model.
template <typename Request, typename Response>
struct ModelCall {
  Server* server;
  absl::Status (*method)(Server*, const Request&, Response*);
  Request request;
  AdminService::Reply reply;
  TimePoint until;  // how long it waits for the model

  // Answers, or begins to wait and then does this again.
  static void Run(const std::shared_ptr<ModelCall>& call) {
    Response response;
    absl::Status status = call->method(call->server, call->request, &response);
    if (!status.ok() && call->server->AwaitModel(status, call->until, [call] { Run(call); })) {
      return;
    }
    MakeUtf8(&response);
    call->reply(std::move(status), response.SerializeAsString());
  }
};

// As BindMethod, for methods that need a model: where it is loaded on demand, they wait for it.
template <typename Request, typename Response>
AdminService::Method BindModelMethod(Server* server,
                                     absl::Status (*method)(Server*, const Request&, Response*)) {
  return {
      &Request::default_instance(),
      [server, method](google::protobuf::Message* request, std::shared_ptr<ControlClient>,
                       AdminService::Reply reply) {
        using Call = ModelCall<Request, Response>;
        const TimePoint until = server->clock()->Now() + server->load_wait();
        Call::Run(std::make_shared<Call>(Call{
            server, method, std::move(static_cast<Request&>(*request)), std::move(reply), until}));
      }};
}

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_BIND_METHOD_H_
