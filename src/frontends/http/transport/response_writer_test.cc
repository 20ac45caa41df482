// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/transport/response_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::http {
namespace {

// All statuses of errors that RFC 9110 and RFC 6585 define and that an HTTP server of models could
// mean, so that no place in the code can send one without its phrase.
TEST(ResponseWriterTest, EachStatusHasItsReasonPhrase) {
  for (const int status :
       {200, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415,
        416, 417, 421, 422, 426, 429, 431, 499, 500, 501, 502, 503, 504, 505, 507}) {
    EXPECT_NE(std::string(ReasonPhrase(status)), "Unknown") << status;
  }
  EXPECT_STREQ(ReasonPhrase(401), "Unauthorized");
  EXPECT_STREQ(ReasonPhrase(299), "Unknown");
}

}  // namespace
}  // namespace nereid::http
