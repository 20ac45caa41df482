// The errors with which schedulers refuse requests. Clients rely on the texts.
#ifndef NEREID_SCHEDULING_REFUSAL_H_
#define NEREID_SCHEDULING_REFUSAL_H_

#include <absl/status/status.h>

#include "base/clock.h"
#include "infer/infer_request.h"

namespace nereid {

inline constexpr char kStoppingText[] =
    "Server is stopping, scheduler for model has stopped accepting new inference requests";

// UNAVAILABLE: admission is closed, or the scheduler is shut down.
absl::Status StoppingError(const InferRequest& request);
// UNAVAILABLE: the request finds its level of the queue full. Counts it as a failure of the model.
absl::Status RefuseFull(const InferRequest& request, TimePoint now);

}  // namespace nereid

#endif  // NEREID_SCHEDULING_REFUSAL_H_
