#include "scheduling/ordered/ordered_scheduler.h"

#include "infer/infer_request.h"

namespace nereid {

absl::Status OrderedScheduler::Enqueue(RequestPtr* request) {
  (*request)->stream()->SetRelay(ResponseOrderer::Reserve(orderer_));
  // A refused request gives up its place when its stream is destroyed.
  return inner().Enqueue(request);
}

}  // namespace nereid
