// SPDX-License-Identifier: Apache-2.0
// SimulatedNode: the scheduler, the instances and the timer of one simulated model. Somebody else
// owns the time, brings the requests, and says when to go on. Thread-compatible.
#ifndef NEREID_SIMULATION_SIMULATED_NODE_H_
#define NEREID_SIMULATION_SIMULATED_NODE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/timer.h"
#include "simulation/simulated_clock.h"
#include "simulation/simulated_model.h"
#include "simulation/workload.h"

namespace nereid {

// Learns what happens on a node. Called on the simulation's thread.
class NodeListener {
 public:
  virtual ~NodeListener() = default;
  // An instance has begun to execute a batch, whose end is known.
  virtual void OnBatch(SimulatedBatch batch) = 0;
  // A request is answered, also one that was refused when it arrived.
  virtual void OnEnded(uint32_t number, FlightOutcome outcome) = 0;
};

class SimulatedNode {
 public:
  // All outlive this; `shapes` are those of `load`.
  struct Parts {
    const CompiledModel* config;
    const std::vector<SimulatedRequest>* load;  // requests are named by their places in it
    std::shared_ptr<const LoadShapes> shapes;
    MachineModel* machine;
    SimulatedClock* clock;
    NodeListener* listener;
  };
  explicit SimulatedNode(const Parts& parts);
  // Stops.
  ~SimulatedNode();
  SimulatedNode(const SimulatedNode&) = delete;
  SimulatedNode& operator=(const SimulatedNode&) = delete;

  // The timer of the scheduler that `make` of Start has to make.
  Timer* timer() { return &timer_; }
  // How many instances it has that take requests.
  size_t instances() const { return instances_.size(); }

  // REQUIRES: called once, before the rest. Errors of `make`.
  absl::Status Start(const SchedulerMaker& make);

  // The time of the next event; none: nothing will happen any more, unless a request arrives.
  std::optional<uint64_t> NextEvent() const;
  // What happens now, in this order: executions end, time-outs ring and requests that were held up
  // reach the queue; requests arrive; idle instances look for batches, until none finds one.
  void Proceed();
  void Arrive(uint32_t number);
  void LetInstancesLook();
  // Answers what it still has; does nothing if it has stopped before.
  void Stop();

 private:
  // Executes in simulated time: what it has taken is answered when the time has come.
  class Instance final : public BatchExecutor {
   public:
    Instance(SimulatedNode* node, uint32_t number) : node_(node), number_(number) {}
    Duration Execute(Batch batch) override;

    // Answers and releases what was executed.
    void Finish();

    SimulatedNode* const node_;
    const uint32_t number_;
    Batch batch_;                      // empty: idle
    uint64_t ends_ns_ = 0;             // while it executes
    uint64_t free_ns_ = 0;             // when it looks again at the earliest
    std::optional<Duration> took_;     // of the batch before; told to the scheduler once
    bool awake_ = false;               // has executed, and has not looked since
    uint64_t idle_since_ = 0;          // number of the event at which it became idle
    std::optional<uint64_t> look_ns_;  // idle: it has learned of a batch, and looks then
    std::optional<uint64_t> ask_ns_;   // idle: when a batch will be due
  };

  // Whether the instance has taken a batch.
  bool Look(Instance* instance);
  // Whether an instance that shares its source with `instance` is about to look.
  bool IsAwaited(const Instance& instance) const;
  // The request in the queue whose turn is first; none: there is none.
  std::optional<uint32_t> FirstWaiting() const;
  void Queue(uint32_t number);
  void OnEnded(uint32_t number, bool ok);

  const std::vector<SimulatedRequest>& load_;
  MachineModel* const machine_;
  SimulatedClock* const clock_;
  NodeListener* const listener_;
  Timer timer_;
  const std::shared_ptr<SimulatedModel> model_;
  RequestMaker requests_;
  std::vector<std::unique_ptr<Instance>> instances_;
  std::deque<std::pair<uint64_t, uint32_t>> held_up_;  // when requests reach the queue
  std::set<uint32_t> waiting_;                         // requests in the queue
  uint64_t events_ = 0;
  bool started_ = false;
  bool stopping_ = false;
};

}  // namespace nereid

#endif  // NEREID_SIMULATION_SIMULATED_NODE_H_
