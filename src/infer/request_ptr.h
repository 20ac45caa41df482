// RequestPtr: ownership of a request that is in flight. Destroying it is the one and only way a
// request goes back to whoever made it (its release callback runs, from any thread).
#ifndef NEREID_INFER_REQUEST_PTR_H_
#define NEREID_INFER_REQUEST_PTR_H_

#include <memory>

#include "base/export.h"

namespace nereid {

class InferRequest;

struct NEREID_API RequestReleaser {
  void operator()(InferRequest* request) const;
};
using RequestPtr = std::unique_ptr<InferRequest, RequestReleaser>;

}  // namespace nereid

#endif  // NEREID_INFER_REQUEST_PTR_H_
