// SPDX-License-Identifier: Apache-2.0
// RequestScript: determines what each slot sends: the same request over and over, several in turn,
// or the requests of one sequence after another. Used by one thread.
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

// A request of a sequence. Its id is rewritten in place for each sequence.
struct SequenceText {
  std::string bytes;
  size_t id_at = 0;  // where the id lies
};

class RequestScript {
 public:
  using Render = std::function<SequenceText(const SequenceStep&)>;
  // How ids are written: ten decimal digits, or a varint of five bytes.
  enum class IdForm { kDecimal, kVarint };

  // Every id of a sequence has this or a larger value and fits into INT32, so that all of them are
  // equally long, and models with narrow ids can tell them apart.
  static constexpr uint64_t kFirstId = 1'000'000'000;
  static constexpr uint64_t kLastId = 2'147'483'647;

  // One request for all slots.
  explicit RequestScript(std::string request) : texts_{{std::move(request)}} {}
  // Several, which are sent in turn whatever the slot. REQUIRES: not empty.
  explicit RequestScript(const std::vector<std::string>& requests);
  // Several, of which `order` says which is sent next, whatever the slot; it begins anew after its
  // end. REQUIRES: `order` is not empty, and has numbers of `requests`.
  RequestScript(const std::vector<std::string>& requests, std::vector<uint32_t> order);
  // `slots` sequences at a time, each of `length` requests. When its sequence has ended, a slot
  // begins another one with the next id, the first one being `first_id`. `render` creates the
  // request of a step.
  RequestScript(int slots, int length, IdForm form, const Render& render,
                uint64_t first_id = kFirstId);

  // The bytes that `slot` sends next; they are valid and unchanged until the slot's next call.
  absl::string_view Next(int slot);
  // If `slot` is in the middle of a sequence: makes its next request the last one, and returns
  // true.
  bool EndSequence(int slot);

 private:
  static constexpr size_t kTextsOfSlot = 3;  // the first request, those between, the last

  struct Slot {
    int position = 0;  // in its sequence
    uint64_t id = 0;
  };

  std::vector<SequenceText> texts_;
  std::vector<uint32_t> order_;  // empty: that of the texts
  size_t turn_ = 0;              // without sequences: the next text, or the next place in the order
  int length_ = 0;               // of a sequence; 0: no sequences
  IdForm form_ = IdForm::kDecimal;
  uint64_t next_id_ = kFirstId;
  std::vector<Slot> slots_;
};

// `body`, a JSON inference request with or without binary tensors after it, as part of a sequence.
// INVALID_ARGUMENT if it is not a JSON object. REQUIRES: it has no parameters of its own.
absl::StatusOr<SequenceText> HttpBodyOfStep(absl::string_view body, const SequenceStep& step);
// `message`, a serialized ModelInferRequest, as part of a sequence.
SequenceText GrpcMessageOfStep(absl::string_view message, const SequenceStep& step);

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_REQUEST_SCRIPT_H_
