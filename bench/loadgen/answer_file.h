// SPDX-License-Identifier: Apache-2.0
// AnswerFile: where the tensors of answers lie if the server writes them into shared memory: a file
// that all answers share. Thread-compatible.
#ifndef NEREID_BENCH_LOADGEN_ANSWER_FILE_H_
#define NEREID_BENCH_LOADGEN_ANSWER_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <utility>

namespace nereid::bench {

class AnswerFile {
 public:
  // `path` is empty: tensors come with the answers.
  explicit AnswerFile(std::string path = "", size_t bytes = 0)
      : path_(std::move(path)), bytes_(bytes) {}

  bool used() const { return !path_.empty(); }
  // Overwrites what is there, so that an answer that is not written is noticed.
  absl::Status Clear() const;
  absl::StatusOr<std::string> Read() const;

 private:
  const std::string path_;
  const size_t bytes_;
};

}  // namespace nereid::bench

#endif  // NEREID_BENCH_LOADGEN_ANSWER_FILE_H_
