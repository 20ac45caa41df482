#include "base/crash_context.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace nereid {
namespace {

class CrashContextDeathTest : public ::testing::Test {
 protected:
  CrashContextDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CrashContextDeathTest, ACrashNamesTheCodeThatRan) {
  EXPECT_EXIT(
      {
        InstallCrashReporter();
        const CrashContext context("tensors", "resnet", "Execute");
        raise(SIGSEGV);
      },
      ::testing::KilledBySignal(SIGSEGV),
      "the process is ending by SIGSEGV \\(invalid memory access\\) inside backend 'tensors', "
      "model 'resnet', function Execute");
}

TEST_F(CrashContextDeathTest, TheInnermostContextCounts) {
  EXPECT_EXIT(
      {
        InstallCrashReporter();
        const CrashContext outer("outer", "a", "One");
        { const CrashContext inner("inner", "b", "Two"); }
        const CrashContext inner("next", "c", "Three");
        abort();
      },
      ::testing::KilledBySignal(SIGABRT), "SIGABRT \\(abort\\) inside backend 'next', model 'c'");
}

TEST_F(CrashContextDeathTest, AContextEndsWithItsScope) {
  EXPECT_EXIT(
      {
        InstallCrashReporter();
        const CrashContext outer("outer", "a", "One");
        { const CrashContext inner("inner", "b", "Two"); }
        raise(SIGBUS);
      },
      ::testing::KilledBySignal(SIGBUS), "SIGBUS .* inside backend 'outer', model 'a'");
}

TEST_F(CrashContextDeathTest, OutsideOfABackendItSaysSo) {
  EXPECT_EXIT(
      {
        InstallCrashReporter();
        raise(SIGFPE);
      },
      ::testing::KilledBySignal(SIGFPE), "SIGFPE .* outside of any backend call");
}

}  // namespace
}  // namespace nereid
