// SPDX-License-Identifier: Apache-2.0
// Reads the JSON body of a predict, classify or regress request of TensorFlow Serving's API into an
// InferRequest. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_TFS_TFS_REQUEST_READER_H_
#define NEREID_FRONTENDS_TFS_TFS_REQUEST_READER_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <string>

#include "config/compiled_model.h"
#include "config/tfs_spec.h"
#include "frontends/codec/request_buffers.h"
#include "frontends/codec/request_limits.h"
#include "infer/infer_request.h"

namespace nereid {

// What the answer to a request has to look like. Points into the request's model.
struct TfsCall {
  TfsMethod method = TfsMethod::kPredict;  // that the client calls
  const TfsSignature* signature = nullptr;
  bool rows = false;  // predict: the request had `instances`, not `inputs`
};

// Finds the signature `name` of `model`, the default one if that is empty, for the method of
// `call`. INVALID_ARGUMENT if there is none, or none that the method can use.
absl::Status FindTfsSignature(absl::string_view name, const CompiledModel& model, TfsCall* call);

// The keys of `tensors`, for error texts: "'a', 'b'".
std::string TfsKeys(absl::Span<const TfsTensor> tensors);

// "tensorflow/serving/predict" and so on.
const char* TfsMethodName(TfsMethod method);

// Fills `request` (fresh, for a model), `buffers` with the memory that must stay alive for it, and
// all of `call` but its method, which says what to read. INVALID_ARGUMENT for a mistake of the
// client; `request` is then incomplete and must be discarded.
//
// REQUIRES: `json` is followed by kJsonPadding readable bytes, unless it is empty.
absl::Status ReadTfsRequest(absl::string_view json, const RequestLimits& limits,
                            InferRequest* request, RequestBuffers* buffers, TfsCall* call);

// The one of its two readers that reads any body, and says what is wrong with it. Names no outputs.
absl::Status ReadTfsCarefully(absl::string_view json, const RequestLimits& limits,
                              InferRequest* request, RequestBuffers* buffers, TfsCall* call);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TFS_TFS_REQUEST_READER_H_
