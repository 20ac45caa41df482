// RequestScript: determines what each slot sends: the same request over and over, or the requests
// of one sequence after another. Used by one thread.
#ifndef NEREID_APPS_LOADGEN_REQUEST_SCRIPT_H_
#define NEREID_APPS_LOADGEN_REQUEST_SCRIPT_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nereid::bench {

// The sequence parameters of a request.
struct SequenceStep {
  uint64_t id = 0;
  bool start = false;
  bool end = false;
};

class RequestScript {
 public:
  using Render = std::function<std::string(const SequenceStep&)>;

  // One request for all slots.
  explicit RequestScript(std::string request) : texts_{std::move(request)} {}
  // `slots` sequences at a time, each of `length` >= 2 requests: when its sequence has ended, a
  // slot begins it again with the same id. `render` creates the request of a step.
  RequestScript(int slots, int length, const Render& render);

  // The bytes that `slot` sends next; they are valid as long as the script.
  absl::string_view Next(int slot);

 private:
  static constexpr size_t kTextsOfSlot = 3;  // the first request, those between, the last

  std::vector<std::string> texts_;
  int length_ = 0;              // of a sequence; 0: no sequences
  std::vector<int> positions_;  // in its sequence, by slot
};

// `body`, a JSON inference request with or without binary tensors after it, as part of a sequence.
// INVALID_ARGUMENT if it is not a JSON object. REQUIRES: it has no parameters of its own.
absl::StatusOr<std::string> HttpBodyOfStep(absl::string_view body, const SequenceStep& step);
// `message`, a serialized ModelInferRequest, as part of a sequence.
std::string GrpcMessageOfStep(absl::string_view message, const SequenceStep& step);

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_REQUEST_SCRIPT_H_
