// SPDX-License-Identifier: Apache-2.0
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

GrpcMethod GrpcTransport::Method(int responses) {
  return {responses > 0 ? kModelStreamInfer : kModelInfer, static_cast<uint64_t>(responses)};
}

GrpcMethod GrpcTransport::StreamUntilFinal() { return {kModelStreamInfer, 0, true}; }

RequestScript GrpcTransport::Sequences(const std::string& message, int slots, int length,
                                       uint64_t first_id) {
  const auto render = [&](const SequenceStep& step) {
    SequenceText text = GrpcMessageOfStep(message, step);
    text.bytes = WithGrpcPrefix(text.bytes);
    text.id_at += kGrpcPrefixBytes;
    return text;
  };
  return RequestScript(slots, length, RequestScript::IdForm::kVarint, render, first_id);
}

GrpcTransport::GrpcTransport(Endpoint endpoint, RequestScript script, int calls,
                             const GrpcMethod& method)
    : endpoint_(std::move(endpoint)),
      script_(std::move(script)),
      method_(method),
      calls_(static_cast<size_t>(calls)),
      tensors_(static_cast<size_t>(calls)) {}

GrpcTransport::~GrpcTransport() {
  if (epoll_ >= 0) close(epoll_);
}

absl::StatusOr<std::unique_ptr<Transport>> GrpcTransport::Connect(Endpoint endpoint,
                                                                  RequestScript script, int calls,
                                                                  int channels,
                                                                  const GrpcMethod& method) {
  std::unique_ptr<GrpcTransport> transport(
      new GrpcTransport(std::move(endpoint), std::move(script), calls, method));
  ASSIGN_OR_RETURN(transport->epoll_, MakeEpoll());
  transport->channels_.resize(static_cast<size_t>(channels));
  for (int i = 0; i < channels; ++i) RETURN_IF_ERROR(transport->Open(i));
  return transport;
}

absl::Status GrpcTransport::Open(int channel) {
  Channel& of = channels_[static_cast<size_t>(channel)];
  ASSIGN_OR_RETURN(of.connection, GrpcConnection::Connect(endpoint_, method_));
  of.writing = false;
  return Watch(epoll_, EPOLL_CTL_ADD, of.connection->fd(), EPOLLIN, channel);
}

void GrpcTransport::Lose(int channel, const absl::Status& why, std::vector<Completion>* done) {
  channels_[static_cast<size_t>(channel)].connection = nullptr;
  for (size_t i = static_cast<size_t>(channel); i < calls_.size(); i += channels_.size()) {
    GrpcCall& call = calls_[i];
    call.stream = 0;
    if (!std::exchange(call.waiting, false)) continue;
    call.lost = std::string(why.message());
    done->push_back({static_cast<int>(i), false});
  }
}

void GrpcTransport::KeepAnswers(bool keep) {
  for (GrpcCall& call : calls_) call.keep = keep;
}

absl::string_view GrpcTransport::answer(int slot) const {
  return tensors_[static_cast<size_t>(slot)];
}

absl::Status GrpcTransport::Send(int slot) {
  const auto index = static_cast<size_t>(slot);
  const size_t channel = index % channels_.size();
  if (channels_[channel].connection == nullptr) RETURN_IF_ERROR(Open(static_cast<int>(channel)));
  // Not flushed here: Poll writes all requests that are due at the same time together.
  return channels_[channel].connection->Start(&calls_[index], script_.Next(slot));
}

absl::Status GrpcTransport::Poll(BenchTime until, std::vector<Completion>* done) {
  const size_t before = done->size();
  const int channels = static_cast<int>(channels_.size());
  for (int i = 0; i < channels; ++i) {
    const Channel& channel = channels_[static_cast<size_t>(i)];
    if (channel.writing || channel.connection == nullptr) continue;
    const absl::Status flushed = Flush(i);
    if (!flushed.ok()) Lose(i, flushed, done);
  }
  if (done->size() > before) return absl::OkStatus();
  std::array<epoll_event, 64> events;
  ASSIGN_OR_RETURN(const int count, WaitForEvents(epoll_, until, absl::MakeSpan(events)));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    const int channel = static_cast<int>(event.data.u32);
    absl::Status status;
    if ((event.events & EPOLLOUT) != 0) status = Flush(channel);
    if (status.ok() && (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
      status = Read(channel, done);
    }
    if (!status.ok()) Lose(channel, status, done);
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
  // What has completed before an error counts.
  const absl::Status status = channels_[static_cast<size_t>(channel)].connection->Read(&completed_);
  for (const GrpcCall* call : completed_) {
    const auto index = static_cast<size_t>(call - calls_.data());
    const bool ok = call->Succeeded(method_);
    if (ok && call->keep) RETURN_IF_ERROR(TakeTensor(index));
    done->push_back({static_cast<int>(index), ok, call->first});
  }
  return status;
}

absl::Status GrpcTransport::TakeTensor(size_t slot) {
  const absl::string_view answer = calls_[slot].answer;
  if (method_.streams()) {
    ASSIGN_OR_RETURN(tensors_[slot], JoinedRawOutputs(answer));
  } else {
    ASSIGN_OR_RETURN(const absl::string_view tensor,
                     SoleRawOutput(answer.substr(kGrpcPrefixBytes)));
    tensors_[slot] = std::string(tensor);
  }
  return absl::OkStatus();
}

}  // namespace nereid::bench
