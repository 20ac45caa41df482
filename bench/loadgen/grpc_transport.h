// GrpcTransport: unary calls through a completion queue. The request is sent as the bytes it came
// as, and answers are parsed only while they are kept: the cheapest client that gRPC allows. Used
// by one thread.
#ifndef NEREID_BENCH_LOADGEN_GRPC_TRANSPORT_H_
#define NEREID_BENCH_LOADGEN_GRPC_TRANSPORT_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/loadgen/transport.h"

namespace nereid::bench {

class GrpcTransport final : public Transport {
 public:
  // `request` is a serialized inference.ModelInferRequest; `calls` may be in flight at a time,
  // spread over `channels` TCP connections.
  GrpcTransport(const std::string& address, const std::string& request, int calls, int channels);
  ~GrpcTransport() override;

  int slots() const override { return static_cast<int>(calls_.size()); }
  absl::Status Send(int slot) override;
  absl::Status Poll(BenchTime until, std::vector<Completion>* done) override;
  void KeepAnswers(bool keep) override { keep_ = keep; }
  absl::string_view answer(int slot) const override {
    return calls_[static_cast<size_t>(slot)].tensor;
  }

 private:
  struct Call {
    std::optional<grpc::ClientContext> context;
    std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
    grpc::ByteBuffer answer;
    grpc::Status status;
    std::string tensor;
    bool in_flight = false;
  };

  absl::Status KeepTensor(Call* call);

  grpc::ByteBuffer request_;
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;
  grpc::CompletionQueue queue_;
  std::vector<Call> calls_;
  bool keep_ = false;
};

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LOADGEN_GRPC_TRANSPORT_H_
