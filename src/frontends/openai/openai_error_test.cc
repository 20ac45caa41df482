// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/openai_error.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid {
namespace {

TEST(OpenAiErrorTest, HasFieldAndCode) {
  EXPECT_EQ(OpenAiErrorJson(400, OpenAiFieldError("n", "'n' should be \"1\"")),
            R"({"error":{"message":"'n' should be \"1\"","type":"invalid_request_error",)"
            R"("param":"n","code":null}})");
  EXPECT_EQ(OpenAiErrorJson(404, WithOpenAiCode(absl::NotFoundError("no"), "model_not_found")),
            R"({"error":{"message":"no","type":"invalid_request_error","param":null,)"
            R"("code":"model_not_found"}})");
  EXPECT_EQ(OpenAiErrorJson(503, absl::UnavailableError("busy")),
            R"({"error":{"message":"busy","type":"server_error","param":null,"code":null}})");
}

TEST(OpenAiErrorTest, ErrorsOfOtherFormsAreTranslated) {
  std::string text = R"({"error":"the key is \"wrong\""})";
  ToOpenAiErrorForm(401, &text);
  EXPECT_EQ(text, R"({"error":{"message":"the key is \"wrong\"","type":"authentication_error",)"
                  R"("param":null,"code":"invalid_api_key"}})");
  const std::string done = text;
  ToOpenAiErrorForm(401, &text);
  EXPECT_EQ(text, done);
  text = "";
  ToOpenAiErrorForm(404, &text);
  EXPECT_EQ(text, "");
  text = R"({"error":"no"})";
  ToOpenAiErrorForm(403, &text);
  EXPECT_EQ(text,
            R"({"error":{"message":"no","type":"permission_error","param":null,"code":null}})");
}

}  // namespace
}  // namespace nereid
