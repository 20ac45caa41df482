// SPDX-License-Identifier: Apache-2.0
// Modules with classes and functions of the server's names, in a program that links the server:
// each has to use its own, wherever its symbols go and whichever comes first. Every case is a
// process, because a pool of protobuf's takes its files once; and ends as programs do, by way of
// destructors.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/conformance/capi/harness.h"
#include "triton/core/tritonserver.h"

namespace nereid_test {
namespace {

void UseServer() {
  Repository repository;
  repository.AddModel("echo", IdentityConfig());
  const TestServer server(repository);
  TRITONSERVER_Message* config = nullptr;
  ASSERT_TRUE(Ok(TRITONSERVER_ServerModelConfig(server.get(), "echo", 1, 1, &config)));
  EXPECT_NE(TakeJson(config).find("\"max_batch_size\":8"), std::string::npos);
}

void UseModule(const std::string& file, int scope) {
  void* const module = dlopen(file.c_str(), RTLD_NOW | scope);
  ASSERT_NE(module, nullptr) << dlerror();
  const auto use = reinterpret_cast<bool (*)()>(dlsym(module, "UseModule"));
  ASSERT_NE(use, nullptr) << dlerror();
  EXPECT_TRUE(use());
}

[[noreturn]] void Exit() { std::exit(testing::Test::HasFailure() ? 1 : 0); }

struct Case {
  const char* name;
  std::string module;
  int scope;
};

class ExportsTest : public testing::TestWithParam<Case> {};

TEST_P(ExportsTest, ModuleBeforeServer) {
  const auto run = [] {
    UseModule(GetParam().module, GetParam().scope);
    UseServer();
    Exit();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

TEST_P(ExportsTest, ServerBeforeModule) {
  const auto run = [] {
    UseServer();
    UseModule(GetParam().module, GetParam().scope);
    UseServer();
    Exit();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(
    , ExportsTest,
    testing::Values(Case{"NamesLocal", NEREID_TEST_OWN_NAMES, RTLD_LOCAL},
                    Case{"NamesGlobal", NEREID_TEST_OWN_NAMES, RTLD_GLOBAL},
                    Case{"MessagesLocal", NEREID_TEST_OWN_MESSAGES, RTLD_LOCAL},
                    Case{"MessagesGlobal", NEREID_TEST_OWN_MESSAGES, RTLD_GLOBAL}),
    [](const testing::TestParamInfo<Case>& info) { return info.param.name; });

// Without a version, as a module without -fvisibility=hidden asks for what it does not have.
TEST(ExportedNamesTest, NobodyFindsThePrivateOnes) {
  EXPECT_NE(dlsym(RTLD_DEFAULT, "TRITONSERVER_ServerNew"), nullptr);
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "_ZN6nereid18CheckConfigVersionEj"), nullptr);
  EXPECT_NE(dlvsym(RTLD_DEFAULT, "_ZN6nereid18CheckConfigVersionEj", "NEREID_PRIVATE_1"), nullptr);
}

}  // namespace
}  // namespace nereid_test
