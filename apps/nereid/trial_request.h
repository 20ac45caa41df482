// SPDX-License-Identifier: Apache-2.0
// Requests for trying out a model: made up from its inputs, or as somebody wrote them in JSON.
// Stateless.
#ifndef NEREID_APPS_NEREID_TRIAL_REQUEST_H_
#define NEREID_APPS_NEREID_TRIAL_REQUEST_H_

#include <absl/status/status.h>

#include <string>

#include "frontends/codec/request_buffers.h"
#include "infer/infer_request.h"
#include "server/reports.h"

namespace nereid {

// Adds an input for each of the model's: ones, true, "sample"; dimensions that vary are 1. The data
// is kept in `buffers`.
absl::Status AddSampleInputs(const ModelMetadata& metadata, InferRequest* request,
                             RequestBuffers* buffers);

// Fills the request from the JSON that clients send by HTTP. The data is kept in `buffers`.
absl::Status FillFromJson(const std::string& json, InferRequest* request, RequestBuffers* buffers);

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_TRIAL_REQUEST_H_
