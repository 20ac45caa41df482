// SPDX-License-Identifier: Apache-2.0
// InstanceRunner: the thread of one instance. It initialises the instance, warms it up, pulls and
// executes batches until the source ends, and finalises the instance. Thread-safe.
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

// Additional steps of an instance's initialisation; null: none. An error of either step fails the
// initialisation. Each is called once, before WaitInitialized returns.
struct InstanceSetup {
  std::function<absl::Status()> before;          // before everything else
  std::function<absl::Status(Instance*)> after;  // after the instance has initialised
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

  // Blocks until the instance has initialised, and returns the result.
  absl::Status WaitInitialized() ABSL_LOCKS_EXCLUDED(mu_);
  // Lets an initialised instance pull. If Serve is not called before the destructor, the thread
  // finalises without pulling.
  void Serve() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until the thread has ended, as the destructor does.
  void Join() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  enum class Order { kNone, kServe, kQuit };
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // After an error the instance is not initialised, or was finalised again.
  absl::Status Initialize();
  absl::Status TryInitialize() noexcept;
  // The next batch. If there is no memory to take one, waits until there is: queued requests stay
  // queued, and no other thread could take them for this instance.
  Batch Pull(std::optional<Duration> took) noexcept;
  Order AwaitOrder() ABSL_LOCKS_EXCLUDED(mu_);
  void Command(Order order) ABSL_LOCKS_EXCLUDED(mu_);

  const std::unique_ptr<Instance> instance_;  // used by thread_; by the source while thread_ pulls
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
