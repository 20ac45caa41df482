// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/torch_error.h"

#include <gtest/gtest.h>

namespace nereid_backend {
namespace {

TEST(TorchErrorTest, OneLineWithoutFrames) {
  EXPECT_EQ(ShortMessage("sizes differ\nat dim 1\nException raised from f at g.cpp:3 (most recent "
                         "call first):\nframe #0: x"),
            "sizes differ at dim 1");
  EXPECT_EQ(ShortMessage(""), "");
  EXPECT_LT(ShortMessage(std::string(100000, 'x')).size(), 1100u);
}

TEST(TorchErrorTest, OfTorchScriptTheLineAndTheReason) {
  constexpr const char* kText =
      "The following operation failed in the TorchScript interpreter.\n"
      "Traceback of TorchScript, serialized code (most recent call last):\n"
      "  File \"code/m.py\", line 4, in forward\n"
      "    y = torch.add(x, 1)\n"
      "    return torch.matmul(x, y)\n"
      "           ~~~~~~~~~~~~ <--- HERE\n"
      "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x3 and 4x5)\n";
  EXPECT_EQ(ShortMessage(kText),
            "mat1 and mat2 shapes cannot be multiplied (1x3 and 4x5) (in 'return torch.matmul(x, "
            "y)')");
  // Even an unexpected text gives a message.
  EXPECT_NE(ShortMessage("The following operation failed in the TorchScript interpreter."), "");
}

TEST(TorchErrorTest, ExceptionsBecomeErrors) {
  const Error error = TorchTry("run: ", []() -> Error { TORCH_CHECK(false, "no"); });
  ASSERT_FALSE(error.ok());
  EXPECT_STREQ(error.message(), "run: no");
  const Error memory = TorchTry("run: ", []() -> Error { throw std::bad_alloc(); });
  EXPECT_EQ(memory.code(), TRITONSERVER_ERROR_UNAVAILABLE);
  EXPECT_FALSE(TorchTry("run: ", []() -> Error { throw 3; }).ok());
}

}  // namespace
}  // namespace nereid_backend
