// SPDX-License-Identifier: Apache-2.0
// Refusal: why the transport itself answers a request. A plain value.
#ifndef NEREID_FRONTENDS_HTTP_TRANSPORT_REFUSAL_H_
#define NEREID_FRONTENDS_HTTP_TRANSPORT_REFUSAL_H_

#include <string>

#include "frontends/http/http_message.h"

namespace nereid::http {

struct Refusal {
  int status = 0;
  std::string message;
  AnswerForm form = nullptr;  // null: that of MakeErrorResponse

  HttpResponse Response() const {
    HttpResponse response = MakeErrorResponse(status, message);
    if (form != nullptr) form(&response);
    return response;
  }
};

// The text of a 503 to a client whose request had not arrived when the time to stop was over.
inline constexpr char kStoppedReading[] =
    "the server is shutting down, and did not wait for the rest of the request";

}  // namespace nereid::http

#endif  // NEREID_FRONTENDS_HTTP_TRANSPORT_REFUSAL_H_
