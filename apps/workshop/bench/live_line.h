// SPDX-License-Identifier: Apache-2.0
// LiveLine: what goes on, on one line that is written over, where somebody looks at it. Used by one
// thread.
#ifndef NEREID_APPS_WORKSHOP_BENCH_LIVE_LINE_H_
#define NEREID_APPS_WORKSHOP_BENCH_LIVE_LINE_H_

#include <unistd.h>

#include <ostream>
#include <string>

namespace nereid::bench {

class LiveLine {
 public:
  // `err`: standard error; outlives this object.
  explicit LiveLine(std::ostream& err) : err_(err), shown_(isatty(STDERR_FILENO) == 1) {}
  ~LiveLine() { Show(""); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  void Show(const std::string& text) {
    if (shown_) err_ << "\r\x1b[K" << text << std::flush;
  }

 private:
  std::ostream& err_;
  const bool shown_;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_WORKSHOP_BENCH_LIVE_LINE_H_
