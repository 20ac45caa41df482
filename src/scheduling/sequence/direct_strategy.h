// DirectStrategy: every sequence keeps its place in the instance's batches, because the model keeps
// state by place. No lock, no clock. Thread-compatible.
#ifndef NEREID_SCHEDULING_SEQUENCE_DIRECT_STRATEGY_H_
#define NEREID_SCHEDULING_SEQUENCE_DIRECT_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "config/compiled_model.h"
#include "scheduling/sequence/sequence_strategy.h"

namespace nereid {

class DirectStrategy final : public SequenceStrategy {
 public:
  // `config` outlives this.
  explicit DirectStrategy(const CompiledModel* config);

  void Offer(LiveSequence* sequence, TimePoint now) override;
  void Withdraw(LiveSequence* sequence) override;
  // The batch reaches from slot 0 to the last one that has a request. It waits for the share of
  // slots that the configuration asks for, but no request longer than the delay.
  BatchDecision Due(TimePoint now) override;
  // A place whose slot has no request, or one that cannot be in a batch with the first, is a gap.
  // What is left out comes first the next time, so that requests of different shapes take turns.
  std::vector<SequencePick> Take(size_t places) override;

 private:
  // The first offered sequence whose slot is not below `slot`.
  std::vector<LiveSequence*>::iterator From(uint32_t slot);

  const CompiledModel* const config_;
  const size_t wanted_;  // with this many requests a batch does not wait
  // By slot. Only these: the configuration may allow any number of slots.
  std::vector<LiveSequence*> offered_;
  uint32_t next_ = 0;  // the slot whose shape comes next
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_DIRECT_STRATEGY_H_
