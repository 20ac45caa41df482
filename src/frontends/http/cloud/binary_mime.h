// SPDX-License-Identifier: Apache-2.0
// The form in which clients of cloud platforms send binary tensors: these platforms drop headers
// that they do not know, so the length of the JSON part is not in Inference-Header-Content-Length
// but in the content type; in answers, too, on SageMaker. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_CLOUD_BINARY_MIME_H_
#define NEREID_FRONTENDS_HTTP_CLOUD_BINARY_MIME_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <memory>

#include "frontends/http/http_message.h"

namespace nereid {

// The content types up to the number.
inline constexpr char kVertexAiMime[] =
    "application/vnd.vertex-ai-triton.binary+json;json-header-size=";
inline constexpr char kSagemakerMime[] =
    "application/vnd.sagemaker-triton.binary+json;json-header-size=";

// Where a request is sent on to.
struct NewAddress {
  HttpMethod method;
  absl::string_view path;  // percent-encoded, without query
};

// The request that the REST frontend gets instead of `request`, whose body goes along: with the
// method and path of `to`, with the length in the content type `mime` as the header of the v2
// protocol, and without the wish for a compressed answer, which the platforms would not label.
// INVALID_ARGUMENT if the content type has no length.
absl::StatusOr<std::unique_ptr<HttpRequest>> SendOn(std::unique_ptr<HttpRequest> request,
                                                    const NewAddress& to, absl::string_view mime);

// Puts the length of the JSON part of an answer into its content type, where it has one.
void UseMime(absl::string_view mime, HttpResponse* response);

// "/v2/models/M/" for any name: what is not a letter, a digit or one of "-._~" is percent-encoded.
std::string PathOfModel(absl::string_view model, absl::string_view action);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_CLOUD_BINARY_MIME_H_
