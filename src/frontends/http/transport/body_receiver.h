// SPDX-License-Identifier: Apache-2.0
// BodyReceiver: the body of one request while it arrives, whatever the version of HTTP: applies the
// limits, places the bytes, and has them paid for before they are there. Owned by its connection's
// or stream's I/O thread.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_BODY_RECEIVER_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_BODY_RECEIVER_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/budget.h"
#include "frontends/codec/received_body.h"
#include "frontends/http/http_message.h"
#include "frontends/http/http_server_options.h"
#include "frontends/http/transport/refusal.h"
#include "frontends/transport/pace.h"

namespace nereid::http {

// Methods that return false have refused the body: refusal() says why, and nothing but Drop may
// follow.
class BodyReceiver {
 public:
  // `options` must outlive the receiver. `holder`, who may be null, is the client.
  BodyReceiver(const HttpServerOptions* options, std::shared_ptr<Holder> holder)
      : options_(options), holder_(std::move(holder)) {}

  // The body of `request` has `size` bytes. `limit` is that of its route.
  bool BeginSized(const HttpRequest& request, const BodyLimit& limit, uint64_t size);
  // The body of `request` has any number of bytes. Each part is announced before it is appended.
  // REQUIRES of Announce: the body is unsized.
  void BeginUnsized(const HttpRequest& request, const BodyLimit& limit);
  bool Announce(uint64_t size);

  // ---- A body of known size.
  // Whether all of it is there.
  bool complete() const { return body_ == nullptr || body_->size() == size_; }
  // Pays for the next bytes, so that room() is not empty. REQUIRES: not complete.
  bool MakeRoom();
  // Where the next bytes go, as many as are paid for.
  absl::Span<char> room();
  // What has the bytes, and room() behind them.
  const std::shared_ptr<ReceivedBody>& body() const { return body_; }
  // The first `n` bytes of room() are there.
  void Received(size_t n) { body_->Extend(n); }

  // Appends the next bytes, of either kind of body, which are copied unless they lie where room()
  // begins. REQUIRES: no more than were announced.
  bool Append(absl::string_view bytes);
  // The same where parts of a body of unknown size are announced only by their arrival.
  bool AppendArrived(absl::string_view bytes) {
    return (sized_ || Announce(bytes.size())) && Append(bytes);
  }

  // Bytes that have arrived, and that were announced.
  uint64_t received() const { return body_ == nullptr ? 0 : body_->size(); }
  uint64_t announced() const { return size_; }
  const Refusal& refusal() const { return refusal_; }
  // The whole body; null if it has no bytes.
  std::shared_ptr<ReceivedBody> Take();
  // Releases what has arrived.
  void Drop() { body_.reset(); }

 private:
  bool AppendUnsized(absl::string_view bytes);
  // Takes units for `bytes` more; none if they are refused.
  std::optional<BudgetUnits> TakeUnits(uint64_t bytes);
  // Bytes of a body that the budget can pay for while it pays for nothing else.
  uint64_t MostPayable() const;
  // Refuses what the budget could never pay for.
  bool IsPayable(uint64_t size);
  // `size` is the part of the text about the size, with a leading blank, or empty.
  std::string SizeError(absl::string_view size) const;
  bool RefuseForRoute(std::optional<uint64_t> size);
  bool Refuse(int status, std::string message);

  const HttpServerOptions* const options_;
  const std::shared_ptr<Holder> holder_;
  BodyLimit limit_;  // of the route
  bool sized_ = false;
  uint64_t size_ = 0;  // announced
  size_t aligned_offset_ = 0;
  std::shared_ptr<ReceivedBody> body_;
  Refusal refusal_;
};

// The error for a Content-Length with the value `text`.
std::string ContentLengthError(absl::string_view text);

// Why a body is given up at the end of `pace`.
std::string SlowBodyError(const transport::Pace& pace, const HttpServerOptions& options);

// What the Expect header of `request` asks for.
struct Expectation {
  bool awaits_continue = false;
  std::optional<Refusal> refusal;  // of what is not known
};
Expectation ExpectationOf(const HttpRequest& request);

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_BODY_RECEIVER_H_
