// SPDX-License-Identifier: Apache-2.0
// ErrorCounts: how often requests failed, by the text of the failure. A plain value of bounded
// size.
#ifndef NEREID_APPS_WORKSHOP_BENCH_ERROR_COUNTS_H_
#define NEREID_APPS_WORKSHOP_BENCH_ERROR_COUNTS_H_

#include <absl/strings/string_view.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace nereid::bench {

class ErrorCounts {
 public:
  // Texts that are told apart; the rest count together.
  static constexpr size_t kMostTexts = 16;

  // `text` as it came from the server, of any content.
  void Add(absl::string_view text, uint64_t count = 1);

  uint64_t total() const { return total_; }
  // The most frequent first; the texts are short and of one line.
  std::vector<std::pair<std::string, uint64_t>> ByCount() const;

 private:
  std::vector<std::pair<std::string, uint64_t>> texts_;
  uint64_t others_ = 0;
  uint64_t total_ = 0;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_ERROR_COUNTS_H_
