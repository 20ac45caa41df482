// OldestStrategy: an instance's batches are formed as those of dynamic batching, from the first
// request of each of its sequences, so that a batch never has two of one sequence. No lock, no
// clock. Thread-compatible.
#ifndef NEREID_SCHEDULING_SEQUENCE_OLDEST_STRATEGY_H_
#define NEREID_SCHEDULING_SEQUENCE_OLDEST_STRATEGY_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "config/compiled_model.h"
#include "scheduling/dynamic/batch_former.h"
#include "scheduling/ordered/response_orderer.h"
#include "scheduling/sequence/sequence_strategy.h"

namespace nereid {

class OldestStrategy final : public SequenceStrategy {
 public:
  // `config` outlives this.
  explicit OldestStrategy(const CompiledModel* config);

  // With `preserve_ordering` the responses leave in the order in which requests were offered first.
  void Offer(LiveSequence* sequence, TimePoint now) override;
  void Withdraw(LiveSequence* sequence) override;
  BatchDecision Due(TimePoint now) override;
  std::vector<SequencePick> Take(size_t places) override;

 private:
  BatchFormer former_;
  const std::shared_ptr<ResponseOrderer> orderer_;  // null: responses leave when they are ready
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_SEQUENCE_OLDEST_STRATEGY_H_
