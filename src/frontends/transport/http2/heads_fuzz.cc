// SPDX-License-Identifier: Apache-2.0
// Heads whose fields stand in HPACK's table and are referenced from there, in one frame or several,
// of streams that stay open, end or are reset. Whatever a client refers to, a request gets no more
// than a head may have, and each field as it was sent.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/transport/http2/session.h"
#include "frontends/transport/http2/testing/client_session.h"

namespace {

using nereid::http2::Header;
using nereid::http2::OutputQueue;
using nereid::http2::RawFrame;
using nereid::http2::Session;
using nereid::http2::SessionEvents;
using nereid::http2::SessionOptions;
using nereid::http2::Stream;
using nereid::http2::StreamUser;

constexpr SessionOptions kOptions = {.max_streams = 50,
                                     .stream_window = 2000,
                                     .connection_window = 100'000,
                                     .max_frame_bytes = 1 << 16,
                                     .max_header_bytes = 10'000,
                                     .kept_streams = 4,
                                     .max_headers = 40};

void Require(bool condition) {
  if (!condition) std::abort();
}

class Choices {
 public:
  Choices(const uint8_t* bytes, size_t size) : bytes_(bytes), size_(size) {}
  bool empty() const { return at_ == size_; }
  uint8_t Next() { return at_ < size_ ? bytes_[at_++] : 0; }

 private:
  const uint8_t* const bytes_;
  const size_t size_;
  size_t at_ = 0;
};

// The names "a" to "p" are the fuzzer's; such a field's value is its name again and again.
bool IsOurs(absl::string_view name) { return name.size() == 1 && name[0] >= 'a' && name[0] <= 'p'; }

void CheckHead(const Stream& stream) {
  Require(stream.header_count() <= kOptions.max_headers);
  size_t bytes = 0;
  for (size_t i = 0; i < stream.header_count(); ++i) {
    const Header header = stream.header(i);
    bytes += header.name.size() + header.value.size();
    if (!IsOurs(header.name)) continue;
    Require(std::all_of(header.value.begin(), header.value.end(),
                        [&](char c) { return c == header.name[0]; }));
  }
  Require(bytes <= kOptions.max_header_bytes);
}

// Keeps its stream, and finds its head unchanged when it is closed.
class User final : public StreamUser {
 public:
  User(std::shared_ptr<Stream> stream, int* closed) : stream_(std::move(stream)), closed_(closed) {}
  void OnData(absl::string_view bytes) override { stream_->Consume(bytes.size()); }
  void OnEndOfInput() override {}
  void OnClosed(bool) override {
    CheckHead(*stream_);
    ++*closed_;
    stream_.reset();
  }

 private:
  std::shared_ptr<Stream> stream_;
  int* const closed_;
};

class Events final : public SessionEvents {
 public:
  int requests = 0;
  int closed = 0;

  std::shared_ptr<StreamUser> OnRequest(const std::shared_ptr<Stream>& stream) override {
    CheckHead(*stream);
    Require(!stream->FindHeader(":path").empty());
    ++requests;
    return std::make_shared<User>(stream, &closed);
  }
  void OnOutput() override {}
};

// An integer of HPACK behind `pattern`, which leaves `bits` of the first byte.
std::string Integer(uint8_t pattern, int bits, size_t value) {
  const size_t most = (size_t{1} << bits) - 1;
  if (value < most) return {static_cast<char>(pattern | value)};
  std::string bytes = {static_cast<char>(pattern | most)};
  for (value -= most; value >= 128; value /= 128) {
    bytes.push_back(static_cast<char>(value % 128 + 128));
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

// A field that goes into the table.
std::string Kept(uint8_t letter, size_t size) {
  const auto name = static_cast<char>('a' + letter % 16);
  return std::string("\x40\x01", 2) + name + Integer(0, 7, size) + std::string(size, name);
}

// HEADERS and CONTINUATION frames with pieces of `block` of up to `step` bytes.
std::string Head(uint32_t stream, const std::string& block, size_t step, bool end) {
  std::string frames;
  for (size_t at = 0; at == 0 || at < block.size(); at += step) {
    const bool last = at + step >= block.size();
    uint8_t flags = last ? NGHTTP2_FLAG_END_HEADERS : 0;
    if (at == 0 && end) flags |= NGHTTP2_FLAG_END_STREAM;
    frames += RawFrame(at == 0 ? NGHTTP2_HEADERS : NGHTTP2_CONTINUATION, flags, stream,
                       absl::string_view(block).substr(at, step));
  }
  return frames;
}

// What the client sends, as the choices say.
std::string Frames(Choices from) {
  std::string frames =
      nereid::http2::RawStart() + RawFrame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "");
  std::string block = nereid::http2::RawRequestHead();
  uint32_t stream = 1;
  for (int i = 0; i < 500 && !from.empty(); ++i) {
    const uint8_t choice = from.Next();
    switch (choice % 8) {
      case 0:
      case 1:
        block += Kept(choice / 8, size_t{16} * from.Next());
        break;
      case 2:  // one of the table, again and again; a byte each
        block.append(1 + from.Next() % 64, static_cast<char>(0xbe + choice / 64));
        break;
      case 3:  // any one, also of those that are not there
        block += Integer(0x80, 7, size_t{62} + from.Next() % 16);
        break;
      case 4:  // the table's size
        block.insert(0, Integer(0x20, 5, size_t{16} * from.Next()));
        break;
      case 5:
        frames += RawFrame(NGHTTP2_RST_STREAM, 0, (from.Next() % 64) * 2 + 1,
                           absl::string_view("\0\0\0\x08", 4));
        break;
      case 6:  // any byte of a block, which often ends the connection
        if (choice >= 192) block.push_back(static_cast<char>(from.Next()));
        break;
      default:
        frames += Head(stream, block, choice >= 128 ? 1 << 14 : 1 + from.Next(), choice & 8);
        stream += 2;
        block = nereid::http2::RawRequestHead();
    }
  }
  return frames + Head(stream, block, 1 << 14, true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string input = Frames(Choices(data, size));
  const size_t step = size % 2 == 0 ? input.size() : 1 + size;
  Events events;
  {
    OutputQueue output;
    Session session(kOptions, &events);
    for (size_t at = 0; at < input.size() && !session.ended(); at += step) {
      // A copy with nothing after it, so that reading too far is detected.
      const std::string piece = input.substr(at, step);
      if (!session.Receive(piece).ok()) break;
      Require(session.open_streams() <= kOptions.max_streams);
      session.Fill(&output, 1 << 16);
      output.Consume(output.size());
    }
  }
  Require(events.closed == events.requests);
  return 0;
}
