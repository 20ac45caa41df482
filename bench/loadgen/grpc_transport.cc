#include "bench/loadgen/grpc_transport.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>

#include "base/status_macros.h"
#include "grpc_service.pb.h"

namespace nereid::bench {
namespace {

constexpr char kMethod[] = "/inference.GRPCInferenceService/ModelInfer";

// gRPC's deadlines are on the system clock.
std::chrono::system_clock::time_point OnSystemClock(BenchTime until) {
  const auto left = std::max(until - BenchClock::now(), BenchClock::duration::zero());
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(left);
}

}  // namespace

GrpcTransport::GrpcTransport(const std::string& address, const std::string& request, int calls,
                             int channels)
    : calls_(static_cast<size_t>(calls)) {
  grpc::Slice slice(request);
  request_ = grpc::ByteBuffer(&slice, 1);
  for (int i = 0; i < std::max(channels, 1); ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetMaxSendMessageSize(-1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
    stubs_.push_back(std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments)));
  }
}

GrpcTransport::~GrpcTransport() {
  for (Call& call : calls_) {
    if (call.in_flight) call.context->TryCancel();
  }
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

absl::Status GrpcTransport::Send(int slot) {
  Call& call = calls_[static_cast<size_t>(slot)];
  grpc::GenericStub& stub = *stubs_[static_cast<size_t>(slot) % stubs_.size()];
  call.reader.reset();  // it refers to the context
  call.context.emplace();
  call.reader = stub.PrepareUnaryCall(&*call.context, kMethod, request_, &queue_);
  call.reader->StartCall();
  call.in_flight = true;
  call.reader->Finish(&call.answer, &call.status,
                      reinterpret_cast<void*>(static_cast<intptr_t>(slot)));
  return absl::OkStatus();
}

absl::Status GrpcTransport::Poll(BenchTime until, std::vector<Completion>* done) {
  void* tag = nullptr;
  bool ok = false;
  switch (queue_.AsyncNext(&tag, &ok, OnSystemClock(until))) {
    case grpc::CompletionQueue::TIMEOUT:
      return absl::OkStatus();
    case grpc::CompletionQueue::SHUTDOWN:
      return absl::InternalError("the completion queue is shut down");
    case grpc::CompletionQueue::GOT_EVENT:
      break;
  }
  const int slot = static_cast<int>(reinterpret_cast<intptr_t>(tag));
  Call& call = calls_[static_cast<size_t>(slot)];
  call.in_flight = false;
  if (call.status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return absl::UnavailableError(call.status.error_message());
  }
  if (keep_ && call.status.ok()) RETURN_IF_ERROR(KeepTensor(&call));
  done->push_back({slot, ok && call.status.ok()});
  return absl::OkStatus();
}

absl::Status GrpcTransport::KeepTensor(Call* call) {
  std::vector<grpc::Slice> slices;
  if (!call->answer.Dump(&slices).ok()) return absl::DataLossError("an answer without a message");
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  inference::ModelInferResponse response;
  if (!response.ParseFromString(bytes)) return absl::DataLossError("an answer of another type");
  if (response.raw_output_contents_size() != 1) {
    return absl::DataLossError(
        absl::StrCat(response.raw_output_contents_size(), " raw outputs, expected 1"));
  }
  call->tensor = response.raw_output_contents(0);
  return absl::OkStatus();
}

}  // namespace nereid::bench
