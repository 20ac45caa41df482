// SPDX-License-Identifier: Apache-2.0
// The content coding of an answer: which one the client takes, and the body in it. Pure functions,
// thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_COMPRESS_BODY_H_
#define NEREID_FRONTENDS_HTTP_COMPRESS_BODY_H_

#include <absl/functional/function_ref.h>

#include <memory>

#include "base/budget.h"
#include "frontends/codec/compression.h"
#include "frontends/http/http_message.h"

namespace nereid {

// As the request's Accept-Encoding says.
ContentCoding AnswerCoding(const HttpRequest& request);

// Replaces the body by its compressed form. False if that fails, if the answer is not `wanted` any
// more, or if `budget` refuses; then the plain body is sent.
bool CompressBody(ContentCoding coding, Budget* budget, const std::shared_ptr<Holder>& holder,
                  absl::FunctionRef<bool()> wanted, HttpResponse* response);

// The refusal of a request whose Content-Encoding `error` is about.
HttpResponse CodingRefusal(const absl::Status& error);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_COMPRESS_BODY_H_
