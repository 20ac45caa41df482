// DirectStrategy: every sequence keeps its place in the instance's batches, because the model keeps
// state by place. No lock, no clock. Thread-compatible.
#ifndef NEREID_SCHEDULING_SEQUENCE_DIRECT_STRATEGY_H_
#define NEREID_SCHEDULING_SEQUENCE_DIRECT_STRATEGY_H_

#include <cstddef>
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
  std::vector<SequencePick> Take(size_t places) override;

 private:
  const CompiledModel* const config_;
  const size_t wanted_;               // with this many requests a batch does not wait
  std::vector<LiveSequence*> slots_;  // offered; null otherwise
  size_t ready_ = 0;                  // those that are not null
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_DIRECT_STRATEGY_H_
