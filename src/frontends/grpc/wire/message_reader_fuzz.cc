// SPDX-License-Identifier: Apache-2.0
// Arbitrary bytes as a stream of messages. How they are split must not change what
// is read from them. A client must never hold more of the
// budget than its bytes justify.
//
// Input: a byte that says whether the budget is small, and how much filling follows the stream, so
// that a short input can fill a long message; a byte for the number of pieces whose sizes follow,
// one byte each, used in turn; then the bytes of the stream.
#include "frontends/grpc/wire/message_reader.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "infer/request_cost.h"

namespace {

constexpr uint64_t kMaxMessage = 4 << 20;
constexpr uint64_t kLargeBudget = 64 << 20;
constexpr uint64_t kSmallBudget = 256 << 10;
constexpr size_t kFilling = 50'000;              // times 0 to 7
constexpr size_t kSmallestPieceOfFilling = 997;  // so that they take little time
// The steps of the reader.
constexpr uint64_t kFirstStep = 64 << 10;
constexpr uint64_t kLargestStep = 1 << 20;
constexpr size_t kReadAllTheSame = 4096;

void Require(bool condition) {
  if (!condition) std::abort();
}

// What comes of the bytes of one stream.
class Stream {
 public:
  explicit Stream(uint64_t limit) : budget_("bytes", limit), reader_(&budget_, {kMaxMessage}) {}
  ~Stream() {
    Require(budget_.used() == kept_ + reader_.held());
    bodies_.clear();
    Require(budget_.used() == reader_.held());
  }

  void Add(absl::string_view piece) {
    unfinished_ += piece.size();
    Note(reader_.Append(piece,
                        [this](nereid::ReceivedMessageBytes m) { return Keep(std::move(m)); }));
  }

  std::string Description() const {
    return absl::StrCat(text_, error_.ToString(), reader_.in_message() ? " unfinished " : " ",
                        reader_.held());
  }

 private:
  bool Keep(nereid::ReceivedMessageBytes message) {
    if (!message.refused.ok()) {
      // Where it is refused depends on the split; what follows does not.
      Require(message.bytes == nullptr || message.bytes->charged() == 0);
      refused_ = true;
      return true;
    }
    const nereid::ReceivedBody& body = *message.bytes;
    Require(body.size() == body.capacity() && body.size() <= kMaxMessage);
    Require(body.charged() == body.size() + nereid::kRequestCost);
    const char* const end = body.data() + body.size();
    Require(reinterpret_cast<uintptr_t>(end) % nereid::ReceivedBody::kAlignment == 0);
    Require(std::count(end, end + nereid::ReceivedBody::kPadding, '\0') ==
            nereid::ReceivedBody::kPadding);
    absl::StrAppend(&text_, message.compressed ? "z" : "", body.size(), ":", body.text(), ";");
    unfinished_ -= nereid::MessagePrefix::kBytes + body.size();
    kept_ += body.charged();
    bodies_.push_back(std::move(message.bytes));
    return true;
  }

  void Note(absl::Status status) {
    Require(error_.ok() || status == error_);
    error_ = std::move(status);
    if (!error_.ok()) {
      Require(reader_.held() == 0 && !reader_.in_message());
      return;
    }
    if (refused_) return;
    Require(reader_.in_message() == (unfinished_ > 0));
    if (reader_.held() == 0) {
      // Between messages, or in a small one that is refused and read all the same.
      Require(unfinished_ < nereid::MessagePrefix::kBytes + kReadAllTheSame);
      return;
    }
    const uint64_t payload = unfinished_ - nereid::MessagePrefix::kBytes;
    const uint64_t ahead = std::clamp(payload, kFirstStep, kLargestStep);
    Require(reader_.held() > nereid::kRequestCost + payload);
    Require(reader_.held() <= nereid::kRequestCost + payload + ahead);
  }

  nereid::Budget budget_;
  nereid::MessageReader reader_;
  absl::Status error_;
  std::string text_;
  uint64_t unfinished_ = 0;  // bytes that came since the last complete message
  uint64_t kept_ = 0;        // units of the messages
  bool refused_ = false;     // a message was
  std::vector<std::shared_ptr<nereid::ReceivedBody>> bodies_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint64_t limit = (data[0] & 1) != 0 ? kSmallBudget : kLargeBudget;
  const size_t pieces = std::min<size_t>(data[1] % 16, size - 2);
  const uint8_t* const sizes = data + 2;
  // A copy with nothing after it, so that reading too far is detected.
  std::string bytes(reinterpret_cast<const char*>(sizes + pieces), size - 2 - pieces);
  const size_t filling = (data[0] >> 1) % 8 * kFilling;
  bytes.append(filling, 'F');

  Stream whole(limit);
  whole.Add(bytes);
  Stream split(limit);
  absl::string_view rest = bytes;
  for (size_t i = 0; !rest.empty(); ++i) {
    const size_t wish = pieces == 0 ? 1 : 1 + sizes[i % pieces] * sizes[i % pieces] / 4;
    const size_t n = std::min(
        rest.size() > filling ? wish : std::max(wish, kSmallestPieceOfFilling), rest.size());
    split.Add(rest.substr(0, n));
    rest.remove_prefix(n);
  }
  Require(split.Description() == whole.Description());
  return 0;
}
