// Which requests may share a batch (docs/reference/batching.md section 4). Stateless.
#ifndef NEREID_SCHEDULING_DYNAMIC_COMPATIBILITY_H_
#define NEREID_SCHEDULING_DYNAMIC_COMPATIBILITY_H_

#include "config/compiled_model.h"
#include "infer/infer_request.h"

namespace nereid {

// True if `a` and `b`, both prepared for `model`, carry the same set of inputs where inputs are
// optional, and equal shapes (batch dimension aside) of every input that may vary.
bool MayShareBatch(const CompiledModel& model, const InferRequest& a, const InferRequest& b);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_COMPATIBILITY_H_
