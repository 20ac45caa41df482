// InstanceRunner: the thread of one instance: initialise, warm up, pull and execute until the
// source has nothing more to give, finalise. Thread-safe.
#ifndef NEREID_EXECUTION_INSTANCE_RUNNER_H_
#define NEREID_EXECUTION_INSTANCE_RUNNER_H_

#include <absl/status/status.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "execution/instance.h"
#include "scheduling/scheduler.h"

namespace nereid {

// What an instance's thread does besides; null where there is nothing. An error of either fails the
// initialisation. Called before WaitInitialized returns, and not again.
struct InstanceSetup {
  std::function<absl::Status()> before;          // first of all
  std::function<absl::Status(Instance*)> after;  // once the instance is initialised
};

class InstanceRunner {
 public:
  // Starts the thread. `source` outlives this. `name` is for the log and the thread list.
  InstanceRunner(const std::string& name, std::unique_ptr<Instance> instance, BatchSource* source,
                 InstanceSetup setup = {});
  // Joins. REQUIRES: the source was shut down, or the instance failed to initialise.
  ~InstanceRunner();
  InstanceRunner(const InstanceRunner&) = delete;
  InstanceRunner& operator=(const InstanceRunner&) = delete;

  // Blocks until the instance has initialised, and says how that went.
  absl::Status WaitInitialized() ABSL_LOCKS_EXCLUDED(mu_);
  // Lets an initialised instance pull. Not calling it before destruction makes the thread finalise
  // without pulling.
  void Serve() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until the thread has ended, as the destructor does.
  void Join() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  enum class Order { kNone, kServe, kQuit };
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // After an error the instance is not initialised, or not any more.
  absl::Status Initialize();
  absl::Status TryInitialize() noexcept;
  // The next batch. Where there is no memory to take one it waits until there is: what is queued
  // stays there, and nobody else could take it for this instance.
  Batch Pull(std::optional<Duration> took) noexcept;
  Order AwaitOrder() ABSL_LOCKS_EXCLUDED(mu_);
  void Command(Order order) ABSL_LOCKS_EXCLUDED(mu_);

  const std::string thread_name_;  // of the name, as much as the kernel keeps: 15 characters
  const std::unique_ptr<Instance> instance_;  // used by thread_, and while it pulls by the source
  BatchSource* const source_;
  InstanceSetup setup_;  // used by thread_; empty once it has initialised
  Mutex mu_;
  CondVar changed_;
  std::optional<absl::Status> initialized_ ABSL_GUARDED_BY(mu_);
  Order order_ ABSL_GUARDED_BY(mu_) = Order::kNone;
  std::thread thread_;  // last: uses all of the above
};

}  // namespace nereid

#endif  // NEREID_EXECUTION_INSTANCE_RUNNER_H_
