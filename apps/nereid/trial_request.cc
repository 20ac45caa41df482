// SPDX-License-Identifier: Apache-2.0
#include "trial_request.h"

#include <cstring>

#include "base/status_macros.h"
#include "frontends/codec/v2_request_reader.h"
#include "printed_tensor.h"

namespace nereid {

absl::Status AddSampleInputs(const ModelMetadata& metadata, InferRequest* request,
                             RequestBuffers* buffers) {
  for (const TensorMetadata& tensor : metadata.inputs) {
    int64_t elements = 1;
    Shape shape = tensor.shape;
    for (int64_t& dim : shape) {
      if (dim < 0) dim = 1;
      elements *= dim;
    }
    ASSIGN_OR_RETURN(InferInput * input, request->AddInput(tensor.name, tensor.data_type, shape));
    const std::string bytes = SampleTensor(tensor.data_type, elements);
    InputBuffer buffer;
    buffer.byte_size = bytes.size();
    char* const place = buffers->Allocate(bytes.size());
    if (place == nullptr) return buffers->WhyNothing("a sample");
    std::memcpy(place, bytes.data(), bytes.size());
    buffer.base = place;
    input->AppendBuffer(buffer);
  }
  return absl::OkStatus();
}

absl::Status FillFromJson(const std::string& json, InferRequest* request, RequestBuffers* buffers) {
  // The reader may read up to kBodyPadding bytes beyond the end.
  const std::string padded = json + std::string(kBodyPadding, '\0');
  char* const place = buffers->Allocate(padded.size());
  if (place == nullptr) return buffers->WhyNothing("a request");
  std::memcpy(place, padded.data(), padded.size());
  V2RequestBody body;
  body.data = place;
  body.size = json.size();
  OutputFormats formats;
  return ReadV2Request(body, RequestLimits(), request, buffers, &formats);
}

}  // namespace nereid
