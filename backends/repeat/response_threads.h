// ResponseThreads: threads that each send the responses of one request at a time. A thread is added
// only if none is idle, so there are as many as the most requests in progress at a time. All
// threads end before the instance is destroyed, because their code must not be unloaded while they
// run. Thread-safe.
#ifndef NEREID_BACKENDS_REPEAT_RESPONSE_THREADS_H_
#define NEREID_BACKENDS_REPEAT_RESPONSE_THREADS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace nereid_backend {

class ResponseThreads {
 public:
  ResponseThreads() = default;
  // Waits until all started bodies have returned.
  ~ResponseThreads();
  ResponseThreads(const ResponseThreads&) = delete;
  ResponseThreads& operator=(const ResponseThreads&) = delete;

  // Runs `body`, which must not throw, at once on a separate thread. Throws std::system_error, and
  // does not run it, if no further thread can be created.
  void Start(std::function<void()> body);

 private:
  void Loop();

  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;  // guarded by mu_; each has an idle thread
  size_t idle_ = 0;                            // guarded by mu_
  bool stopping_ = false;                      // guarded by mu_
  std::vector<std::thread> threads_;           // guarded by mu_ until stopping_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_REPEAT_RESPONSE_THREADS_H_
