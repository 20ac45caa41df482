// SPDX-License-Identifier: Apache-2.0
// AnswerCache: answers that cost something to make and are asked for by many watchers. Each is made
// anew at most once in kKept, however many threads ask. Thread-safe.
#ifndef NEREID_SERVER_ANSWER_CACHE_H_
#define NEREID_SERVER_ANSWER_CACHE_H_

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"

namespace nereid {

class AnswerCache {
 public:
  static constexpr Duration kKept = std::chrono::milliseconds(250);

  explicit AnswerCache(const Clock* clock) : clock_(clock) {}
  AnswerCache(const AnswerCache&) = delete;
  AnswerCache& operator=(const AnswerCache&) = delete;

  // The answer to `question`, from `make` if the last one is too old; threads that ask meanwhile
  // wait for that one. Errors of `make` are passed on and not kept. `make` asks this cache nothing.
  using Answer = absl::StatusOr<std::string>;
  Answer Get(absl::string_view question, absl::FunctionRef<Answer()> make) ABSL_LOCKS_EXCLUDED(mu_);
  // Questions whose answers are kept.
  size_t size() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    Mutex mu;  // held while the answer is made
    std::optional<TimePoint> made ABSL_GUARDED_BY(mu);
    std::string text ABSL_GUARDED_BY(mu);
  };

  struct Asked {
    TimePoint last;  // when it was asked for
    std::shared_ptr<Entry> entry;
  };

  // The entry of `question`. Forgets those that nobody has asked for of late.
  std::shared_ptr<Entry> Find(absl::string_view question, TimePoint now) ABSL_LOCKS_EXCLUDED(mu_);

  const Clock* const clock_;
  mutable Mutex mu_;
  std::map<std::string, Asked, std::less<>> entries_ ABSL_GUARDED_BY(mu_);  // by question
};

}  // namespace nereid

#endif  // NEREID_SERVER_ANSWER_CACHE_H_
