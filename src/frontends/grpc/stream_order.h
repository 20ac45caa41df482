// SPDX-License-Identifier: Apache-2.0
// StreamOrder: brings answers into the order in which their requests arrived. An answer that
// arrives before those of earlier requests waits here. Pure: no lock, no thread, no gRPC.
// Thread-compatible.
//
// Only requests that have exactly one answer take part; the responses of decoupled models are
// written as they arrive.
#ifndef NEREID_FRONTENDS_GRPC_STREAM_ORDER_H_
#define NEREID_FRONTENDS_GRPC_STREAM_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace nereid {

template <typename Answer>
class StreamOrder {
 public:
  // Identifies one request by its place in the order.
  using Ticket = uint64_t;

  // The next request in the order.
  Ticket Add() {
    places_.emplace_back();
    return first_ + places_.size() - 1;
  }

  // The one answer to a request. Calls `ready(Answer)` for each answer whose turn has now come, in
  // order. REQUIRES: `ticket` came from Add and has no answer yet.
  template <typename Ready>
  void Complete(Ticket ticket, Answer answer, Ready&& ready) {
    places_[static_cast<size_t>(ticket - first_)] = std::move(answer);
    while (!places_.empty() && places_.front().has_value()) {
      ready(*std::move(places_.front()));
      places_.pop_front();
      ++first_;
    }
  }

  // Number of requests whose answer is missing or waits for an earlier one.
  size_t open() const { return places_.size(); }

 private:
  uint64_t first_ = 0;  // ticket of places_.front()
  std::deque<std::optional<Answer>> places_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_STREAM_ORDER_H_
