// SPDX-License-Identifier: Apache-2.0
// GrpcTransport: calls over HTTP/2 connections of our own (raw sockets, epoll, nghttp2), unary or
// on streams, because gRPC's client costs more than the servers being measured. The request's bytes
// are sent unchanged; answers are parsed only while they are kept. Used by one thread.
#ifndef NEREID_APPS_LOADGEN_GRPC_TRANSPORT_H_
#define NEREID_APPS_LOADGEN_GRPC_TRANSPORT_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/loadgen/endpoint.h"
#include "apps/loadgen/grpc_connection.h"
#include "apps/loadgen/request_script.h"
#include "apps/loadgen/transport.h"

namespace nereid::bench {

class GrpcTransport final : public Transport {
 public:
  // `script` gives messages with their prefixes; `calls` may be in flight at a time, in turn on
  // `channels` TCP connections. UNAVAILABLE if nobody listens.
  static absl::StatusOr<std::unique_ptr<Transport>> Connect(Endpoint endpoint, RequestScript script,
                                                            int calls, int channels,
                                                            const GrpcMethod& method);
  // ModelInfer, or with `responses` ModelStreamInfer, one stream for each slot, where a request is
  // done when so many responses have come.
  static GrpcMethod Method(int responses = 0);
  // ModelStreamInfer, where a request is done with the response that says so.
  static GrpcMethod StreamUntilFinal();
  // Sequences of `length` requests on each of `slots`, made of a serialized
  // inference.ModelInferRequest, with ids from `first_id` on.
  static RequestScript Sequences(const std::string& message, int slots, int length,
                                 uint64_t first_id = RequestScript::kFirstId);
  ~GrpcTransport() override;

  int slots() const override { return static_cast<int>(calls_.size()); }
  absl::Status Send(int slot) override;
  absl::Status Poll(BenchTime until, std::vector<Completion>* done) override;
  std::string error(int slot) const override { return calls_[static_cast<size_t>(slot)].Failure(); }
  bool EndSequence(int slot) override { return script_.EndSequence(slot); }
  void KeepAnswers(bool keep) override;
  absl::string_view answer(int slot) const override;

 private:
  struct Channel {
    std::unique_ptr<GrpcConnection> connection;  // null: lost
    bool writing = false;                        // waits until the socket accepts more
  };

  GrpcTransport(Endpoint endpoint, RequestScript script, int calls, const GrpcMethod& method);
  absl::Status Open(int channel);
  // Ends the connection, and all calls on it without success.
  void Lose(int channel, const absl::Status& why, std::vector<Completion>* done);
  absl::Status Flush(int channel);
  absl::Status Read(int channel, std::vector<Completion>* done);

  // Takes the tensor of an answer that was kept.
  absl::Status TakeTensor(size_t slot);

  const Endpoint endpoint_;
  RequestScript script_;
  const GrpcMethod method_;
  int epoll_ = -1;
  std::vector<Channel> channels_;
  std::vector<GrpcCall> calls_;
  std::vector<std::string> tensors_;  // of the answers that are kept
  std::vector<GrpcCall*> completed_;  // in Read
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_GRPC_TRANSPORT_H_
