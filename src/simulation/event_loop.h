// EventLoop: plays the clients, the instances and the timer of one simulated model on one thread.
// Thread-compatible.
#ifndef NEREID_SIMULATION_EVENT_LOOP_H_
#define NEREID_SIMULATION_EVENT_LOOP_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/timer.h"
#include "simulation/simulated_clock.h"
#include "simulation/simulated_model.h"
#include "simulation/workload.h"

namespace nereid {

class EventLoop {
 public:
  // `load` and `machine` outlive this. With `clients`, requests arrive in the order of `load` when
  // a client is free; otherwise as `load` says.
  EventLoop(const CompiledModel& config, const std::vector<SimulatedRequest>& load,
            MachineModel* machine, std::optional<ClosedLoop> clients = std::nullopt);

  // The timer of the scheduler that `make` has to make, and its clock.
  Timer* timer() { return &timer_; }
  Clock* clock() { return &clock_; }

  // When requests have arrived, by number.
  const std::vector<uint64_t>& arrivals() const { return arrivals_; }

  // REQUIRES: called once. Errors as of Simulate, and of `make`.
  absl::StatusOr<SimulationResult> Run(const SchedulerMaker& make);

 private:
  // Executes in simulated time: what it has taken is answered when the time has come.
  class Instance final : public BatchExecutor {
   public:
    Instance(EventLoop* loop, uint32_t number) : loop_(loop), number_(number) {}
    Duration Execute(Batch batch) override;

    // Answers and releases what was executed.
    void Finish();

    EventLoop* const loop_;
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

  // The time of the next event; none: nothing will happen any more.
  std::optional<uint64_t> NextEvent() const;
  // Does everything that happens now, apart from what idle instances do.
  void Happen();
  // Lets idle instances look for batches, until none finds one.
  void LetInstancesLook();
  // Whether the instance has taken a batch.
  bool Look(Instance* instance);
  // Whether an instance that shares its source with `instance` is about to look.
  bool IsAwaited(const Instance& instance) const;
  void Arrive(uint32_t number);
  void OnEnded(uint32_t number, bool ok);
  // A client of a closed loop has its answer.
  void OnAnswered();

  const std::vector<SimulatedRequest>& load_;
  MachineModel* const machine_;
  const std::optional<ClosedLoop> clients_;
  std::vector<uint64_t> arrivals_;  // by number, as far as they are known
  SimulatedClock clock_;
  Timer timer_{&clock_, Timer::Calls::kByOwner};
  const std::shared_ptr<SimulatedModel> model_;
  RequestMaker requests_;
  std::vector<std::unique_ptr<Instance>> instances_;
  std::set<uint32_t> waiting_;  // requests that have arrived and are in no batch
  size_t arrived_ = 0;
  uint64_t events_ = 0;
  bool stopping_ = false;
  SimulationResult result_;
};

}  // namespace nereid

#endif  // NEREID_SIMULATION_EVENT_LOOP_H_
