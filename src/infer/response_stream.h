// ResponseStream: the way back of one issued request: from any thread of a backend to the
// frontend that asked. Thread-safe.
//
// It outlives the request: response factories and unsent responses hold references. When the last
// of them goes without a final response the client gets one INTERNAL error, so that nobody waits
// for ever. Frontends keep only a weak reference, to cancel.
#ifndef NEREID_INFER_RESPONSE_STREAM_H_
#define NEREID_INFER_RESPONSE_STREAM_H_

#include <absl/status/status.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/export.h"
#include "base/mutex.h"
#include "memory/output_allocator.h"

namespace nereid {

class InferResponse;
class ServingModel;

inline constexpr uint32_t kResponseCompleteFinal = 1;

// Where responses go. `fn` runs on any thread, must not block, owns `response` (null when only
// flags are sent) and is not called again after FINAL.
struct ResponseTarget {
  using Fn = void (*)(InferResponse* response, uint32_t flags, const ResponseTarget& target);
  Fn fn = nullptr;
  void* userp = nullptr;
  void (*foreign_fn)() = nullptr;  // the C API keeps an application's callback here
  const OutputAllocator* allocator = nullptr;
  void* allocator_userp = nullptr;
};

class NEREID_API ResponseStream : public std::enable_shared_from_this<ResponseStream> {
 public:
  // Holds a pass of the model's lifetime gate, which the caller has entered, until destroyed.
  ResponseStream(std::shared_ptr<ServingModel> model, std::string request_id,
                 const ResponseTarget& target);
  ~ResponseStream();

  // A response to be filled and sent. Tells the allocator that a new response starts.
  std::unique_ptr<InferResponse> NewResponse();

  // Delivers `response` (may be null) with `flags`. INTERNAL, and nothing is delivered, after the
  // final one has been sent. A final response that is sent while another thread delivers one that
  // is not is delivered by that thread, afterwards: the receiver sees nothing after FINAL.
  absl::Status Send(std::unique_ptr<InferResponse> response, uint32_t flags)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Delivers an error as the final response; nothing if a final one was sent already.
  void SendFinalError(const absl::Status& error);

  // How much time the calling thread has spent in the receivers of responses so far. Lets whoever
  // measures a model leave out how its answers are sent.
  static Duration TimeInReceivers();

  // The request was not taken after all: nothing will be, or was, delivered.
  void Abandon() { final_sent_.store(true, std::memory_order_release); }

  void Cancel() { cancelled_.store(true, std::memory_order_release); }
  bool IsCancelled() const { return cancelled_.load(std::memory_order_acquire); }
  bool final_sent() const { return final_sent_.load(std::memory_order_acquire); }
  const std::shared_ptr<ServingModel>& model() const { return model_; }
  // Running index of reported response statistics.
  uint64_t NextStatisticsIndex() { return statistics_index_.fetch_add(1); }

 private:
  struct HeldResponse {
    std::unique_ptr<InferResponse> response;
    uint32_t flags;
  };

  void Deliver(std::unique_ptr<InferResponse> response, uint32_t flags);
  // One delivery of a response that was not final has ended.
  void EndDelivery() ABSL_LOCKS_EXCLUDED(mu_);

  const std::shared_ptr<ServingModel> model_;
  const std::string request_id_;
  const ResponseTarget target_;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> final_sent_{false};  // set under mu_, read without it
  std::atomic<uint64_t> statistics_index_{0};
  Mutex mu_;
  int delivering_ ABSL_GUARDED_BY(mu_) = 0;  // deliveries under way that are not final
  std::optional<HeldResponse> held_final_ ABSL_GUARDED_BY(mu_);  // waits for them
};

}  // namespace nereid

#endif  // NEREID_INFER_RESPONSE_STREAM_H_
