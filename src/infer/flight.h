// SPDX-License-Identifier: Apache-2.0
// Flight: a request on its way through the core, as the frontend that made it sees it. The flight
// holds the request and the request's place among the server's open requests, and it lives until
// both ends have come: the request is released, and its final response has arrived.
//
// A frontend derives from Flight and adds only its bytes: those that the inputs point into, and
// those that it makes of the responses. What it could do wrong cannot be written:
//   - only a flight that a shared_ptr holds can be issued, and Issue takes that shared_ptr, so that
//     the issuer has nothing left to touch;
//   - the request can be reached only until then (draft);
//   - the two ends may come in any order, on any threads, and before Issue returns: the flight
//     keeps itself alive until the last of them, and nobody counts them;
//   - Cancel does what is right before, during and after the flight;
//   - after an error of Issue, or an exception, everything is as before, and no end comes.
//
// Thread-safe where a method says so; until Issue, otherwise thread-compatible.
#ifndef NEREID_INFER_FLIGHT_H_
#define NEREID_INFER_FLIGHT_H_

#include <absl/cleanup/cleanup.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/budget.h"
#include "base/export.h"
#include "infer/infer_request.h"
#include "infer/response.h"
#include "infer/response_credit.h"
#include "memory/output_allocator.h"

namespace nereid {

// The response of a request that must get exactly one: keeps the first and counts the
// others, which are an error of the model.
//
// Part of a Flight. Add may be called by several threads at a time, as Flight::OnResponse is; the
// other methods only once Add has returned true.
class NEREID_API OnlyResponse {
 public:
  // Takes the arguments of Flight::OnResponse. True: it was the final one.
  [[nodiscard]] bool Add(std::unique_ptr<InferResponse> response, bool is_final) {
    if (response == nullptr) return is_final;
    uint32_t before;
    if (is_final) {  // all other calls have returned
      before = count();
      count_.store(before + 1, std::memory_order_relaxed);
    } else {
      before = count_.fetch_add(1, std::memory_order_relaxed);
    }
    if (before == 0) first_ = std::move(response);
    return is_final;
  }

  // Number of responses.
  uint32_t count() const { return count_.load(std::memory_order_relaxed); }
  // The first response; null if there was none, or if it was taken.
  const InferResponse* first() const { return first_.get(); }
  // The response, if it is the only one and no error. Otherwise its error, or INTERNAL "expected a
  // single response, got N".
  absl::StatusOr<std::unique_ptr<InferResponse>> Take();

 private:
  std::atomic<uint32_t> count_{0};
  std::unique_ptr<InferResponse> first_;
};

class NEREID_API Flight {
 public:
  // The core, to which a flight hands its request: the Server. On an error the request stays with
  // the caller, and no callback of it runs.
  class Issuer {
   public:
    virtual absl::Status InferForClient(InferRequest* request) = 0;

   protected:
    ~Issuer() = default;
  };

  // What makes the buffers of outputs.
  struct Outputs {
    // NOLINTNEXTLINE(google-explicit-constructor): most allocators need nothing else
    Outputs(const OutputAllocator* allocator_in, std::shared_ptr<void> userp_in = nullptr,
            std::shared_ptr<ResponseCredit> credit_in = nullptr)
        : allocator(allocator_in), userp(std::move(userp_in)), credit(std::move(credit_in)) {}

    const OutputAllocator* allocator;  // outlives the responses
    std::shared_ptr<void> userp;  // the allocator gets it; kept as long as a response may be filled
    std::shared_ptr<ResponseCredit> credit;  // of ResponseTarget; null for one response
    std::shared_ptr<Holder> holder;          // of ResponseTarget
    bool on_gpu = false;                     // of ResponseTarget
  };

  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  virtual ~Flight();

  // Asks the core to cancel the request: now, or as soon as the core has it. Has no effect on a
  // request that has ended. Any thread that holds the flight, at any time.
  void Cancel();
  // Whether Cancel was called. Any thread.
  bool cancelled() const { return (state_.load(std::memory_order_acquire) & kCancelled) != 0; }

  // The place among the server's open requests. Goes back when the flight is destroyed or dropped.
  void set_slot(BudgetUnits slot) { slot_ = std::move(slot); }

 protected:
  Flight() = default;

  // Makes the request, which is then filled by way of draft(). REQUIRES: there is none.
  InferRequest* Draft(std::shared_ptr<ServingModel> model, int64_t requested_version);
  // The request; null if there is none, and from Issue on.
  InferRequest* draft() { return request_.has_value() && !issued() ? &*request_ : nullptr; }

  // Gives the request of `*flight` to the core. On OK `*flight` is null: the flight keeps itself
  // until both ends. After an error, which is that of `issuer`, or an exception, `*flight` is
  // unchanged. REQUIRES: the flight has a draft.
  template <class F>
  static absl::Status Issue(std::shared_ptr<F>* flight, Outputs outputs, Issuer* issuer) {
    static_assert(std::is_base_of_v<Flight, F>);
    Flight* const self = flight->get();
    InferRequest* const request = self->BeginIssue(std::move(*flight), std::move(outputs));
    absl::Cleanup not_issued = [self, flight] {
      *flight = std::static_pointer_cast<F>(self->AbortIssue());
    };
    if (absl::Status issued = issuer->InferForClient(request); !issued.ok()) return issued;
    std::move(not_issued).Cancel();
    self->EndIssue();
    return absl::OkStatus();
  }

  // Ends a flight that is not issued: OnReleased runs, and request and place are returned.
  // REQUIRES: not issued.
  void Drop();
  // Returns the place before the flight is destroyed. REQUIRES: both ends have come, or not issued.
  void ReturnSlot() { slot_.Return(); }

  // ---- The ends, and what comes before them. They run on any thread, several responses of a
  // model that sends from several threads also at a time. They must not block.
  // Nobody reads the inputs any more, and they are removed: the request is released, or the flight
  // was dropped. Called once.
  virtual void OnReleased() = 0;
  // `response` is null if only the end is told. Called once with `is_final`, when all other calls
  // have returned.
  virtual void OnResponse(std::unique_ptr<InferResponse> response, bool is_final) = 0;

 private:
  // The state is one word. The lowest three bits tell what an issued flight still waits for.
  static constexpr uint32_t kIssuing = 1;
  static constexpr uint32_t kUnreleased = 2;
  static constexpr uint32_t kUnanswered = 4;
  static constexpr uint32_t kKept = kIssuing | kUnreleased | kUnanswered;
  static constexpr uint32_t kInCore = 8;  // the core has or had the request for certain
  static constexpr uint32_t kCancelled = 16;

  static void HandleRelease(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  static void HandleResponse(InferResponse* response, uint32_t flags, const ResponseTarget& target);

  bool issued() const { return issued_.load(std::memory_order_relaxed); }
  // From here on the flight keeps itself. Returns the request.
  InferRequest* BeginIssue(std::shared_ptr<Flight> self, Outputs outputs) noexcept;
  // The core has not taken the request: everything is as before.
  std::shared_ptr<Flight> AbortIssue();
  // The core has the request: passes on a Cancel that came meanwhile.
  void EndIssue();
  void CancelInCore();
  // What `kept` stands for is over. The last such call destroys the flight, unless others hold it.
  void End(uint32_t kept);

  std::optional<InferRequest> request_;
  BudgetUnits slot_;
  std::atomic<bool> issued_{false};  // from the start of Issue on, unless it fails
  std::atomic<uint32_t> state_{kKept};
  std::shared_ptr<Flight> self_;  // of an issued flight; taken by who clears the last bit of kKept
};

}  // namespace nereid

#endif  // NEREID_INFER_FLIGHT_H_
