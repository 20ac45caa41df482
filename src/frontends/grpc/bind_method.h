// SPDX-License-Identifier: Apache-2.0
// Makes a method of AdminService of a typed function. Pure.
#ifndef NEREID_FRONTENDS_GRPC_BIND_METHOD_H_
#define NEREID_FRONTENDS_GRPC_BIND_METHOD_H_

#include <absl/status/status.h>

#include <memory>
#include <utility>

#include "frontends/grpc/admin_service.h"
#include "frontends/grpc/reports_to_proto.h"

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

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_BIND_METHOD_H_
