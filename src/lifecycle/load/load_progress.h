// LoadProgress: writes to the log how many models of a plan are loaded: about once per second, and
// at the end. Thread-safe. Shared by the loads of the plan.
#ifndef NEREID_LIFECYCLE_LOAD_LOAD_PROGRESS_H_
#define NEREID_LIFECYCLE_LOAD_LOAD_PROGRESS_H_

#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"

namespace nereid {

class LoadProgress {
 public:
  LoadProgress(Clock* clock, int64_t total)
      : clock_(clock), total_(total), start_(clock->Now()), next_(start_ + kPeriod) {}

  void Count(bool ok) noexcept ABSL_LOCKS_EXCLUDED(mu_) {
    const TimePoint now = clock_->Now();
    int64_t done = 0;
    int64_t failed = 0;
    {
      MutexLock lock(&mu_);
      done = ++done_;
      failed = failed_ += ok ? 0 : 1;
      if (total_ < kWorthTelling || (now < next_ && done < total_)) return;
      next_ = now + kPeriod;
    }
    const double seconds = std::chrono::duration<double>(now - start_).count();
    if (failed == 0) {
      LOG_INFO << done << " of " << total_ << " models loaded after " << seconds << " s";
    } else {
      LOG_INFO << done << " of " << total_ << " models loaded (" << failed << " failed) after "
               << seconds << " s";
    }
  }

 private:
  static constexpr Duration kPeriod = std::chrono::seconds(1);
  static constexpr int64_t kWorthTelling = 10;

  Clock* const clock_;
  const int64_t total_;
  const TimePoint start_;
  Mutex mu_;
  TimePoint next_ ABSL_GUARDED_BY(mu_);
  int64_t done_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t failed_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_LOAD_LOAD_PROGRESS_H_
