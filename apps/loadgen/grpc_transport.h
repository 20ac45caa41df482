// GrpcTransport: calls over HTTP/2 connections of our own (raw sockets, epoll, nghttp2), unary or
// on streams, because gRPC's client costs more than the servers being measured. The request's bytes
// are sent unchanged; answers are parsed only while they are kept. Used by one thread.
#ifndef NEREID_APPS_LOADGEN_GRPC_TRANSPORT_H_
#define NEREID_APPS_LOADGEN_GRPC_TRANSPORT_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/loadgen/grpc_connection.h"
#include "apps/loadgen/request_script.h"
#include "apps/loadgen/transport.h"

namespace nereid::bench {

class GrpcTransport final : public Transport {
 public:
  // `script` gives messages with their prefixes; `calls` may be in flight at a time, in turn on
  // `channels` TCP connections. With `responses` each slot has a stream (ModelStreamInfer), and a
  // request is done when so many responses have come. `tls` is null for plain connections and need
  // not live on. UNAVAILABLE if nobody listens at `address`.
  static absl::StatusOr<std::unique_ptr<Transport>> Connect(const std::string& address,
                                                            RequestScript script, int calls,
                                                            int channels, int responses = 0,
                                                            const ClientTls* tls = nullptr);
  // Of a serialized inference.ModelInferRequest; with `sequence_length` each slot sends sequences.
  static RequestScript Script(const std::string& message, int slots, int sequence_length = 0);
  ~GrpcTransport() override;

  int slots() const override { return static_cast<int>(calls_.size()); }
  absl::Status Send(int slot) override;
  absl::Status Poll(BenchTime until, std::vector<Completion>* done) override;
  void KeepAnswers(bool keep) override;
  absl::string_view answer(int slot) const override;

 private:
  struct Channel {
    std::unique_ptr<GrpcConnection> connection;
    bool writing = false;  // waits until the socket accepts more
  };

  GrpcTransport(RequestScript script, int calls, int responses);
  absl::Status Open(const std::string& address, int channels, const ClientTls* tls);
  absl::Status Flush(int channel);
  absl::Status Read(int channel, std::vector<Completion>* done);

  // Takes the tensor of an answer that was kept.
  absl::Status TakeTensor(size_t slot);

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
