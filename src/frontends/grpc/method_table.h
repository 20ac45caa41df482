// SPDX-License-Identifier: Apache-2.0
// MethodTable: which method of the gRPC frontend a stream calls. Thread-safe.
#ifndef NEREID_FRONTENDS_GRPC_METHOD_TABLE_H_
#define NEREID_FRONTENDS_GRPC_METHOD_TABLE_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <memory>
#include <utility>

#include "frontends/grpc/grpc_environment.h"
#include "frontends/transport/http2/connection.h"
#include "frontends/transport/http2/request_acceptor.h"

namespace nereid {

class MethodTable final : public http2::RequestAcceptor {
 public:
  // `rest` gets the requests that are not meant for gRPC; null: they are refused.
  MethodTable(std::shared_ptr<GrpcEnvironment> environment,
              std::shared_ptr<http2::RequestAcceptor> rest)
      : environment_(std::move(environment)), rest_(std::move(rest)) {}

  // The call, or the refusal of a stream that is none; null if the method is unknown and the stream
  // was answered so.
  std::shared_ptr<http2::StreamUser> OnRequest(
      const std::shared_ptr<http2::Stream>& stream,
      const std::shared_ptr<http2::Connection>& connection) override;
  bool OnNoRoom(http2::Stream* stream, const absl::Status& why) override;

 private:
  // An error if the client may not call the method `path`.
  absl::Status CheckAccess(absl::string_view path, const http2::Stream& stream) const;
  std::shared_ptr<http2::StreamUser> PassOn(const std::shared_ptr<http2::Stream>& stream,
                                            const std::shared_ptr<http2::Connection>& connection);

  const std::shared_ptr<GrpcEnvironment> environment_;
  const std::shared_ptr<http2::RequestAcceptor> rest_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_METHOD_TABLE_H_
