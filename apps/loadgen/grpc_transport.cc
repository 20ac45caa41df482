#include "apps/loadgen/grpc_transport.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "apps/loadgen/grpc_message.h"
#include "apps/loadgen/sockets.h"
#include "base/status_macros.h"

namespace nereid::bench {

namespace {

constexpr absl::string_view kModelInfer = "/inference.GRPCInferenceService/ModelInfer";
constexpr absl::string_view kModelStreamInfer = "/inference.GRPCInferenceService/ModelStreamInfer";

}  // namespace

RequestScript GrpcTransport::Script(const std::string& message, int slots, int sequence_length) {
  if (sequence_length == 0) return RequestScript(WithGrpcPrefix(message));
  return RequestScript(slots, sequence_length, [&](const SequenceStep& step) {
    return WithGrpcPrefix(GrpcMessageOfStep(message, step));
  });
}

GrpcTransport::GrpcTransport(RequestScript script, int calls, int responses)
    : script_(std::move(script)),
      method_{responses > 0 ? kModelStreamInfer : kModelInfer, static_cast<uint64_t>(responses)},
      calls_(static_cast<size_t>(calls)),
      tensors_(static_cast<size_t>(calls)) {}

GrpcTransport::~GrpcTransport() {
  if (epoll_ >= 0) close(epoll_);
}

absl::StatusOr<std::unique_ptr<Transport>> GrpcTransport::Connect(const std::string& address,
                                                                  RequestScript script, int calls,
                                                                  int channels, int responses,
                                                                  const ClientTls* tls) {
  std::unique_ptr<GrpcTransport> transport(new GrpcTransport(std::move(script), calls, responses));
  RETURN_IF_ERROR(transport->Open(address, channels, tls));
  return transport;
}

absl::Status GrpcTransport::Open(const std::string& address, int channels, const ClientTls* tls) {
  ASSIGN_OR_RETURN(epoll_, MakeEpoll());
  for (int i = 0; i < channels; ++i) {
    ASSIGN_OR_RETURN(std::unique_ptr<GrpcConnection> connection,
                     GrpcConnection::Connect(address, method_, tls));
    RETURN_IF_ERROR(Watch(epoll_, EPOLL_CTL_ADD, connection->fd(), EPOLLIN, i));
    channels_.push_back({std::move(connection)});
  }
  return absl::OkStatus();
}

void GrpcTransport::KeepAnswers(bool keep) {
  for (GrpcCall& call : calls_) call.keep = keep;
}

absl::string_view GrpcTransport::answer(int slot) const {
  return tensors_[static_cast<size_t>(slot)];
}

absl::Status GrpcTransport::Send(int slot) {
  const auto index = static_cast<size_t>(slot);
  // Not flushed here: Poll writes all requests that are due at the same time together.
  return channels_[index % channels_.size()].connection->Start(&calls_[index], script_.Next(slot));
}

absl::Status GrpcTransport::Poll(BenchTime until, std::vector<Completion>* done) {
  const int channels = static_cast<int>(channels_.size());
  for (int i = 0; i < channels; ++i) {
    if (!channels_[static_cast<size_t>(i)].writing) RETURN_IF_ERROR(Flush(i));
  }
  std::array<epoll_event, 64> events;
  ASSIGN_OR_RETURN(const int count, WaitForEvents(epoll_, until, absl::MakeSpan(events)));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    const int channel = static_cast<int>(event.data.u32);
    if ((event.events & EPOLLOUT) != 0) RETURN_IF_ERROR(Flush(channel));
    if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
      RETURN_IF_ERROR(Read(channel, done));
    }
  }
  return absl::OkStatus();
}

absl::Status GrpcTransport::Flush(int channel) {
  Channel& of = channels_[static_cast<size_t>(channel)];
  RETURN_IF_ERROR(of.connection->Flush());
  if (of.connection->blocked() == of.writing) return absl::OkStatus();
  of.writing = of.connection->blocked();
  return Watch(epoll_, EPOLL_CTL_MOD, of.connection->fd(),
               of.writing ? EPOLLIN | EPOLLOUT : EPOLLIN, channel);
}

absl::Status GrpcTransport::Read(int channel, std::vector<Completion>* done) {
  completed_.clear();
  RETURN_IF_ERROR(channels_[static_cast<size_t>(channel)].connection->Read(&completed_));
  for (const GrpcCall* call : completed_) {
    const auto index = static_cast<size_t>(call - calls_.data());
    const bool ok = call->Succeeded(method_);
    if (ok && call->keep) RETURN_IF_ERROR(TakeTensor(index));
    done->push_back({static_cast<int>(index), ok});
  }
  return absl::OkStatus();
}

absl::Status GrpcTransport::TakeTensor(size_t slot) {
  const absl::string_view answer = calls_[slot].answer;
  if (method_.responses > 0) {
    ASSIGN_OR_RETURN(tensors_[slot], JoinedRawOutputs(answer));
  } else {
    ASSIGN_OR_RETURN(const absl::string_view tensor,
                     SoleRawOutput(answer.substr(kGrpcPrefixBytes)));
    tensors_[slot] = std::string(tensor);
  }
  return absl::OkStatus();
}

}  // namespace nereid::bench
