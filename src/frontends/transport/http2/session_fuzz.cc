// SPDX-License-Identifier: Apache-2.0
// A client that sends anything, to a session whose users do anything, and one that begins as a
// client should. Each user is closed exactly once; what is shared with the session is released.
#include "frontends/transport/http2/session.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/transport/http2/testing/client_session.h"

namespace {

using nereid::http2::DataPlace;
using nereid::http2::ErrorCode;
using nereid::http2::Header;
using nereid::http2::OutputQueue;
using nereid::http2::Session;
using nereid::http2::SessionEvents;
using nereid::http2::SessionOptions;
using nereid::http2::Stream;
using nereid::http2::StreamUser;

constexpr std::array<Header, 2> kHead = {{{":status", "200", true}, {"content-type", "x"}}};
constexpr std::array<Header, 1> kTrailers = {{{"grpc-status", "0"}}};

void Require(bool condition) {
  if (!condition) std::abort();
}

// The bytes that decide what the users do; zeros once they are used up.
class Choices {
 public:
  explicit Choices(absl::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return at_ == bytes_.size(); }
  uint8_t Next() { return at_ < bytes_.size() ? static_cast<uint8_t>(bytes_[at_++]) : 0; }

 private:
  const absl::string_view bytes_;
  size_t at_ = 0;
};

// What all users of a session share. Open streams are kept here, so that users of others use them.
struct Shared {
  Choices choices;
  Session* session = nullptr;
  std::vector<std::shared_ptr<Stream>> streams;
  std::shared_ptr<std::string> bytes = std::make_shared<std::string>(3000, 's');
  int requests = 0;
  int closed = 0;
};

// Does one thing with `stream`.
void Act(Shared* shared, Stream* stream) {
  switch (shared->choices.Next() % 14) {
    case 0:
      return;
    case 1:
      return stream->SendHead(kHead, /*end=*/false);
    case 2:
      return stream->SendHead(kHead, /*end=*/true);
    case 3:
      stream->Append("copied");
      return stream->Flush();
    case 4:
      stream->AppendShared(*shared->bytes, shared->bytes);
      return stream->Flush();
    case 5:
      for (int i = 0; i < 30; ++i) stream->AppendShared(*shared->bytes, shared->bytes);
      return stream->Flush();
    case 6:
      return stream->Finish(kTrailers);
    case 7:
      return stream->Finish({});
    case 8:
      return stream->Reset(ErrorCode::kCancel);
    case 9:
      return stream->Consume(shared->choices.Next() * 64);
    case 10:
      stream->SendHead(kHead, /*end=*/false);
      stream->Append("answer");
      return stream->Finish(kTrailers);
    case 11:
      for (size_t i = 0; i < stream->header_count(); ++i) {
        Require(!stream->header(i).name.empty());
      }
      return;
    case 12:  // now and then of another stream
      if (shared->streams.empty()) return;
      return Act(shared, shared->streams[shared->choices.Next() % shared->streams.size()].get());
    default:
      if (shared->choices.Next() == 255) shared->session->CloseStreams();
  }
}

class User final : public StreamUser {
 public:
  User(Shared* shared, std::shared_ptr<Stream> stream)
      : shared_(shared), stream_(std::move(stream)) {}
  ~User() override { Require(closed_); }

  DataPlace PlaceForData() override {
    if (closed_ || place_->size() == filled_) return {};
    return {absl::MakeSpan(*place_).subspan(filled_), place_};
  }
  void OnData(absl::string_view bytes) override {
    Require(!closed_ && !ended_);
    const auto begin = reinterpret_cast<uintptr_t>(place_->data());
    const auto at = reinterpret_cast<uintptr_t>(bytes.data());
    // What lies in the place is not before where it belongs.
    Require(at < begin || at >= begin + filled_);
    const size_t fits = std::min(bytes.size(), place_->size() - filled_);
    std::memmove(place_->data() + filled_, bytes.data(), fits);
    filled_ += fits;
    if (filled_ == place_->size() && shared_->choices.Next() % 2 == 0) {  // the next message
      place_ = std::make_shared<std::string>(kPlaceBytes, '\0');
      filled_ = 0;
      bytes = {};
    }
    if (shared_->choices.Next() % 2 == 0) {  // an echo
      stream_->Append(bytes);
      stream_->Flush();
      stream_->Consume(bytes.size());
    }
    Act(shared_, stream_.get());
  }
  void OnEndOfInput() override {
    Require(!closed_ && !ended_);
    ended_ = true;
    Act(shared_, stream_.get());
    if (!closed_) Act(shared_, stream_.get());
  }
  void OnSent() override {
    Require(!closed_ && stream_->unsent() == 0);
    Act(shared_, stream_.get());
  }
  void OnSweep(nereid::TimePoint) override {
    Require(!closed_);
    Act(shared_, stream_.get());
  }
  void OnClosed(bool) override {
    Require(!closed_);
    closed_ = true;
    ++shared_->closed;
    Act(shared_, stream_.get());
    if (shared_->choices.Next() % 2 == 0) return;
    std::erase(shared_->streams, stream_);
    stream_.reset();
  }

 private:
  static constexpr size_t kPlaceBytes = 700;

  Shared* const shared_;
  std::shared_ptr<Stream> stream_;
  std::shared_ptr<std::string> place_ = std::make_shared<std::string>(kPlaceBytes, '\0');
  size_t filled_ = 0;
  bool ended_ = false;
  bool closed_ = false;
};

class Events final : public SessionEvents {
 public:
  explicit Events(Shared* shared) : shared_(shared) {}
  std::shared_ptr<StreamUser> OnRequest(const std::shared_ptr<Stream>& stream) override {
    const uint8_t choice = shared_->choices.Next();
    if (choice % 16 == 15) {
      stream->SendHead(kHead, /*end=*/true);
      return nullptr;
    }
    ++shared_->requests;
    auto user = std::make_shared<User>(shared_, stream);
    if (choice % 2 == 0) shared_->streams.push_back(stream);
    Act(shared_, stream.get());
    return user;
  }
  void OnOutput() override {}
  void OnControlFrame() override {
    if (shared_->choices.Next() == 254) {
      shared_->session->Terminate(ErrorCode::kEnhanceYourCalm, "calm");
    }
  }

 private:
  Shared* const shared_;
};

// Something of the connection's side.
void ActOnSession(Session* session, uint8_t choice) {
  switch (choice) {
    case 1:
      return session->SendPing();
    case 2:
      return session->Announce();
    case 3:
      return session->EndAnnouncement();
    case 4:
      return session->Terminate(ErrorCode::kNoError, "bye");
    default:
      if (choice % 8 == 5) session->Sweep(nereid::TimePoint{});
  }
}

void Drain(OutputQueue* output) {
  std::array<iovec, 16> pieces{};
  while (!output->empty()) {
    const size_t count = output->Gather(absl::MakeSpan(pieces));
    Require(count > 0);
    size_t sum = 0;
    unsigned checksum = 0;
    for (const iovec& piece : absl::MakeConstSpan(pieces).first(count)) {
      sum += piece.iov_len;
      checksum += static_cast<const uint8_t*>(piece.iov_base)[piece.iov_len - 1];
    }
    Require(sum > 0 && checksum + 1 > 0);
    output->Consume(sum);
  }
}

// Frames with any content and heads that are mostly right: the library looks at little else.
std::string Frames(Choices from) {
  std::string frames;
  for (int i = 0; i < 200 && !from.empty(); ++i) {
    const uint8_t type = from.Next() % 13;
    const uint8_t flags = from.Next();
    const uint8_t stream = from.Next();
    std::string payload;
    const uint8_t size = from.Next();
    for (int k = size % 64; k > 0 && !from.empty(); --k) {
      payload.push_back(static_cast<char>(from.Next()));
    }
    if (type == NGHTTP2_DATA && size >= 128) payload.resize(payload.size() + 50 * (size - 128));
    if (type == NGHTTP2_HEADERS && size >= 128) {
      constexpr uint8_t kOthers = NGHTTP2_FLAG_PADDED | NGHTTP2_FLAG_PRIORITY;
      const auto kept = static_cast<uint8_t>(flags & ~kOthers);
      payload = nereid::http2::RawRequestHead() + (size >= 192 ? payload : "");
      frames += nereid::http2::RawFrame(type, kept, stream, payload);
    } else {
      frames += nereid::http2::RawFrame(type, flags, stream % 32, payload);
    }
  }
  return frames;
}

}  // namespace

// The first byte: whether a preface and SETTINGS come before the rest, and the answer to those of
// the server, and whether the rest are frames; the second: how many bytes that follow are choices;
// the third: the length of the pieces in which the rest arrives.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const absl::string_view all(reinterpret_cast<const char*>(data) + 3, size - 3);
  const absl::string_view rest = all.substr(std::min<size_t>(data[1], all.size()));
  Shared shared{.choices = Choices(all.substr(0, data[1]))};
  std::string input;
  if (data[0] % 4 != 0) {
    input = nereid::http2::RawStart() +
            nereid::http2::RawFrame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "");
  }
  input += data[0] % 4 >= 2 ? Frames(Choices(rest)) : std::string(rest);

  {
    Events events(&shared);
    const SessionOptions options{.max_streams = 20,
                                 .stream_window = 2000,
                                 .connection_window = 100'000,
                                 .max_frame_bytes = 20'000,
                                 .least_in_place = 1,
                                 .max_header_bytes = 1000,
                                 .kept_streams = 2,
                                 .max_headers = 20};
    OutputQueue output;
    Session session(options, &events);
    shared.session = &session;
    const size_t step = data[2] < 250 ? data[2] + 1 : 1 << 16;
    for (size_t at = 0, size = 0; at < input.size() && !session.ended(); at += size) {
      // A copy with nothing after it, so that reading too far is detected.
      const std::string piece = input.substr(at, step);
      const DataPlace place = session.PlaceForData();
      Require(place.room.empty() || place.owner != nullptr);
      const bool in_place = !place.room.empty() && shared.choices.Next() % 4 != 0;
      size = in_place ? std::min(place.room.size(), piece.size()) : piece.size();
      if (in_place) std::memcpy(place.room.data(), piece.data(), size);
      if (!session.Receive({in_place ? place.room.data() : piece.data(), size}).ok()) break;
      ActOnSession(&session, shared.choices.Next());
      session.Fill(&output, 1 + 500 * (shared.choices.Next() % 16));
      if (shared.choices.Next() % 4 != 3) Drain(&output);
    }
    session.Fill(&output, 1 << 20);
    Drain(&output);
    session.Fill(&output, 1 << 20);
  }
  Require(shared.closed == shared.requests);
  for (const auto& stream : shared.streams) {
    Require(stream->closed());
    stream->Append("after the session");
    stream->Finish(kTrailers);
    Require(stream->unsent() == 0);
  }
  shared.streams.clear();
  Require(shared.bytes.use_count() == 1);
  return 0;
}
