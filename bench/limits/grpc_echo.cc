// SPDX-License-Identifier: Apache-2.0
// A minimal gRPC server: one completion queue, one thread, messages as bytes that are neither
// parsed nor copied. Runs until a signal kills it.
#include <absl/strings/str_cat.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "bench/limits/echo_options.h"

namespace nereid::bench {
namespace {

class EchoCall {
 public:
  EchoCall(grpc::AsyncGenericService* service, grpc::ServerCompletionQueue* queue,
           const EchoOptions* options)
      : service_(service), queue_(queue), options_(options), stream_(&context_) {
    service->RequestCall(&context_, &stream_, queue, queue, this);
  }

  // The next step of this call; deletes it after the last.
  void Proceed(bool ok) {
    if (!ok || step_ == Step::kDone) {
      delete this;
      return;
    }
    if (step_ == Step::kRequested) {
      new EchoCall(service_, queue_, options_);
      step_ = Step::kReading;
      stream_.Read(&message_, this);
    } else {
      step_ = Step::kDone;
      grpc::ByteBuffer answer = Answer();
      stream_.WriteAndFinish(answer, grpc::WriteOptions(), grpc::Status::OK, this);
    }
  }

 private:
  enum class Step { kRequested, kReading, kDone };

  // The head, then the last slices of the message, which are not copied.
  grpc::ByteBuffer Answer() const {
    std::vector<grpc::Slice> slices;
    message_.Dump(&slices);
    size_t skip = message_.Length() - std::min(message_.Length(), options_->tail_bytes);
    std::vector<grpc::Slice> parts = {grpc::Slice(options_->head)};
    for (const grpc::Slice& slice : slices) {
      const size_t unwanted = std::min(skip, slice.size());
      skip -= unwanted;
      if (unwanted < slice.size()) parts.push_back(slice.sub(unwanted, slice.size()));
    }
    return grpc::ByteBuffer(parts.data(), parts.size());
  }

  grpc::AsyncGenericService* const service_;
  grpc::ServerCompletionQueue* const queue_;
  const EchoOptions* const options_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_;
  mutable grpc::ByteBuffer message_;
  Step step_ = Step::kRequested;
};

int Serve(const EchoOptions& options) {
  grpc::AsyncGenericService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(absl::StrCat("127.0.0.1:", options.port),
                           grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterAsyncGenericService(&service);
  const std::unique_ptr<grpc::ServerCompletionQueue> queue = builder.AddCompletionQueue();
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr, "grpc_echo: cannot listen on port %d\n", options.port);
    return 1;
  }
  static constexpr int kWaitingCalls = 64;
  for (int i = 0; i < kWaitingCalls; ++i) new EchoCall(&service, queue.get(), &options);
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) static_cast<EchoCall*>(tag)->Proceed(ok);
  return 0;
}

}  // namespace
}  // namespace nereid::bench

int main(int argc, char** argv) {
  const auto options = nereid::bench::EchoOptions::Parse(argc, argv);
  return options ? nereid::bench::Serve(*options) : 2;
}
