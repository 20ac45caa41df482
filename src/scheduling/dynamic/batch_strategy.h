// BatchStrategy: a model's own say in what goes into a batch (the TRITONBACKEND_ModelBatch*
// functions). Used by one thread at a time, never under a lock.
#ifndef NEREID_SCHEDULING_DYNAMIC_BATCH_STRATEGY_H_
#define NEREID_SCHEDULING_DYNAMIC_BATCH_STRATEGY_H_

namespace nereid {

class InferRequest;

class BatchStrategy {
 public:
  virtual ~BatchStrategy() = default;
  // A new batch begins to form.
  virtual void Begin() = 0;
  // Whether `request` shall join the batch that forms.
  virtual bool Include(InferRequest* request) = 0;
  // The batch is closed.
  virtual void End() = 0;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_BATCH_STRATEGY_H_
