// SPDX-License-Identifier: Apache-2.0
// OutputLines: splits the output of a process into lines. Owned by one thread.
#ifndef NEREID_BACKENDS_SDK_PROCESS_OUTPUT_LINES_H_
#define NEREID_BACKENDS_SDK_PROCESS_OUTPUT_LINES_H_

#include <algorithm>
#include <string>
#include <string_view>

namespace nereid_backend {

class OutputLines {
 public:
  // Longer lines are passed on in pieces.
  static constexpr size_t kLongest = 4096;

  // Takes new output; calls `take` (with a std::string_view) for each complete line, except lines
  // of blanks only.
  template <typename Take>
  void Add(std::string_view text, const Take& take) {
    partial_.append(text);
    std::string_view rest = partial_;
    size_t end = 0;
    while ((end = rest.find('\n')) != std::string_view::npos || rest.size() > kLongest) {
      const bool whole = end <= kLongest;
      end = std::min(end, kLongest);
      Give(rest.substr(0, end), take);
      rest.remove_prefix(end + (whole ? 1 : 0));
    }
    partial_.erase(0, partial_.size() - rest.size());
  }
  // The beginning of the last line, which has not ended yet.
  template <typename Take>
  void Flush(const Take& take) {
    Give(partial_, take);
    partial_.clear();
  }

 private:
  template <typename Take>
  static void Give(std::string_view line, const Take& take) {
    if (line.find_first_not_of(" \r") != std::string_view::npos) take(line);
  }

  std::string partial_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_PROCESS_OUTPUT_LINES_H_
