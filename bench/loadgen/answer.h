// SPDX-License-Identifier: Apache-2.0
// Checks an answer: compares its one FP32 output with a reference. Immutable, thread-safe.
#ifndef NEREID_BENCH_LOADGEN_ANSWER_H_
#define NEREID_BENCH_LOADGEN_ANSWER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <utility>
#include <vector>

namespace nereid::bench {

// The form of the values in an answer.
enum class AnswerForm {
  kBinary,  // the bytes as they are
  kJson,    // the first "data":[...] of a JSON text
};

class Reference {
 public:
  // `bytes` are little-endian FP32 values. INVALID_ARGUMENT if the last value is incomplete.
  static absl::StatusOr<Reference> Parse(absl::string_view bytes);

  // OK if `answer` holds as many values as the reference, each within `kTolerance` of it (relative
  // above 1). DATA_LOSS with the first difference.
  absl::Status Check(absl::string_view answer, AnswerForm form) const;

  // Batched and single execution of a network differ in the last bits.
  static constexpr float kTolerance = 1e-5f;

 private:
  explicit Reference(std::vector<float> values) : values_(std::move(values)) {}

  std::vector<float> values_;
};

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LOADGEN_ANSWER_H_
