// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/runtime_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "backends/sdk/testing/fake_server.h"

namespace nereid_backend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A process loads the runtime once, so what goes wrong is tried in a process of its own.
void PrintErrorOf(const char* named) {
  setenv(kRuntimeVariable, named, 1);
  Result<const OrtApiBase*> runtime = LoadRuntime("/nowhere");
  std::cerr << (runtime.ok() ? "none" : runtime.error().message());
  std::exit(0);
}

TEST(RuntimeLibraryDeathTest, AMissingFileIsNamedWithTheRemedy) {
  EXPECT_EXIT(PrintErrorOf("/nowhere/lib.so"), ::testing::ExitedWithCode(0),
              AllOf(HasSubstr("no ONNX Runtime in '/nowhere/lib.so', which "
                              "NEREID_ONNXRUNTIME_LIBRARY names"),
                    HasSubstr("pip install onnxruntime")));
}

TEST(RuntimeLibraryDeathTest, AnotherLibraryIsRefused) {
  EXPECT_EXIT(PrintErrorOf("libm.so.6"), ::testing::ExitedWithCode(0),
              HasSubstr("'libm.so.6' is not ONNX Runtime"));
}

TEST(RuntimeLibraryTest, TheRuntimeIsLoadedOnce) {
  Result<const OrtApiBase*> first = LoadRuntime("/nowhere");  // this test links it
  ASSERT_TRUE(first.ok()) << first.error().message();
  EXPECT_EQ(*first, Runtime());
  Result<const OrtApiBase*> second = LoadRuntime("/somewhere/else");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(*second, *first);
}

}  // namespace
}  // namespace nereid_backend
