// SPDX-License-Identifier: Apache-2.0
// RecordingServer: a Session whose events and users keep what they are told, for tests; what they
// do is up to the test. Thread-compatible.
#ifndef NEREID_FRONTENDS_TRANSPORT_HTTP2_TESTING_RECORDING_SERVER_H_
#define NEREID_FRONTENDS_TRANSPORT_HTTP2_TESTING_RECORDING_SERVER_H_

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/transport/http2/output_queue.h"
#include "frontends/transport/http2/session.h"
#include "frontends/transport/http2/stream.h"

namespace nereid::http2 {

inline constexpr std::array<Header, 2> kOkHead = {
    {{":status", "200", true}, {"content-type", "text/plain"}}};

// One request. The functions are called after the event is counted.
class RecordingUser final : public StreamUser {
 public:
  explicit RecordingUser(std::shared_ptr<Stream> s) : stream(std::move(s)) {}

  void OnData(absl::string_view bytes) override {
    body.append(bytes.data(), bytes.size());
    if (on_data) on_data(bytes);
  }
  DataPlace PlaceForData() override {
    if (place == nullptr) return {};
    return {absl::MakeSpan(*place).subspan(body.size()), place};
  }
  void OnEndOfInput() override {
    ++ends;
    if (on_end) on_end();
  }
  void OnSent() override {
    ++sent;
    if (on_sent) on_sent();
  }
  void OnSweep(TimePoint now) override {
    swept = now;
    if (on_sweep) on_sweep();
  }
  void OnClosed(bool is_complete) override {
    ++closed;
    complete = is_complete;
    if (on_closed) on_closed();
    if (drop_when_closed) stream.reset();
  }

  std::shared_ptr<Stream> stream;
  bool drop_when_closed = false;  // the stream, so that the session may use it again
  std::string body;
  std::shared_ptr<std::string> place;  // for the whole body, behind what has arrived
  int ends = 0;
  int sent = 0;
  int closed = 0;
  bool complete = false;
  TimePoint swept{};
  std::function<void(absl::string_view)> on_data;
  std::function<void()> on_end;
  std::function<void()> on_sent;
  std::function<void()> on_sweep;
  std::function<void()> on_closed;
};

class RecordingServer : public SessionEvents {
 public:
  explicit RecordingServer(const SessionOptions& options)
      : session(std::make_unique<Session>(options, this)) {}

  std::shared_ptr<StreamUser> OnRequest(const std::shared_ptr<Stream>& stream) override {
    users.push_back(std::make_shared<RecordingUser>(stream));
    if (on_request) on_request(users.back().get());
    return ignore_requests ? nullptr : users.back();
  }
  bool OnNoRoom(Stream* stream, const absl::Status& why) override {
    if (!answers_without_room) return false;
    stream->SendHead(kOkHead, /*end=*/false);
    stream->Append(absl::StrCat(stream->FindHeader(":path"), ": ", why.message()));
    stream->Finish({});
    return true;
  }
  void OnOutput() override { ++outputs; }
  void OnControlFrame() override {
    ++control_frames;
    if (on_control_frame) on_control_frame();
  }
  void OnPing(bool is_answer) override {
    ++(is_answer ? ping_answers : pings);
    if (on_ping) on_ping(is_answer);
  }
  void OnAnswerSent() override { ++answers_sent; }
  void OnRequestAnswered() override { ++requests_answered; }

  // All bytes that the session has to send, made in steps of `enough` bytes.
  std::string Output(size_t enough = std::numeric_limits<size_t>::max()) {
    std::string bytes;
    OutputQueue queue;
    for (;;) {
      session->Fill(&queue, enough);
      if (queue.empty()) return bytes;
      std::array<iovec, 8> pieces;
      const size_t count = queue.Gather(absl::MakeSpan(pieces));
      size_t gathered = 0;
      for (const iovec& piece : absl::MakeConstSpan(pieces).first(count)) {
        bytes.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
        gathered += piece.iov_len;
      }
      queue.Consume(gathered);
    }
  }

  std::vector<std::shared_ptr<RecordingUser>> users;  // in the order of their requests
  std::function<void(RecordingUser*)> on_request;
  std::function<void()> on_control_frame;
  std::function<void(bool)> on_ping;
  bool ignore_requests = false;
  bool answers_without_room = false;
  int outputs = 0;
  int control_frames = 0;
  int pings = 0;
  int ping_answers = 0;
  int answers_sent = 0;
  int requests_answered = 0;
  std::unique_ptr<Session> session;  // the last member: its end calls the users
};

// Lets client and server exchange all that they have to say. With `step`, the server reads the
// client's bytes in pieces of that size. Returns the server's status.
template <typename Client>
absl::Status Exchange(Client* client, RecordingServer* server,
                      size_t step = std::numeric_limits<size_t>::max()) {
  for (;;) {
    const std::string request = client->Output();
    for (size_t at = 0; at < request.size();) {
      const size_t size = std::min(step, request.size() - at);
      const absl::Status received =
          server->session->Receive(absl::string_view(request).substr(at, size));
      if (!received.ok()) return received;
      at += size;
    }
    const std::string answer = server->Output();
    if (!client->Receive(answer)) return absl::InternalError("the client understands nothing");
    if (request.empty() && answer.empty()) return absl::OkStatus();
  }
}

}  // namespace nereid::http2

#endif  // NEREID_FRONTENDS_TRANSPORT_HTTP2_TESTING_RECORDING_SERVER_H_
