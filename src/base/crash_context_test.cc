// SPDX-License-Identifier: Apache-2.0
#include "base/crash_context.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "base/threads/thread.h"

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
        const CrashContext context("backend", "tensors", "resnet", "Execute");
        raise(SIGSEGV);
      },
      ::testing::KilledBySignal(SIGSEGV),
      "the process is ending by SIGSEGV \\(invalid memory access\\) inside backend 'tensors', "
      "model 'resnet', function Execute");
}

TEST_F(CrashContextDeathTest, WhatServesNoModelNamesNone) {
  EXPECT_EXIT(
      {
        InstallCrashReporter();
        const CrashContext context("cache", "redis", "", "Lookup");
        raise(SIGSEGV);
      },
      ::testing::KilledBySignal(SIGSEGV), "SIGSEGV .* inside cache 'redis', function Lookup");
}

TEST_F(CrashContextDeathTest, TheInnermostContextCounts) {
  EXPECT_EXIT(
      {
        InstallCrashReporter();
        const CrashContext outer("backend", "outer", "a", "One");
        { const CrashContext inner("backend", "inner", "b", "Two"); }
        const CrashContext inner("backend", "next", "c", "Three");
        abort();
      },
      ::testing::KilledBySignal(SIGABRT), "SIGABRT \\(abort\\) inside backend 'next', model 'c'");
}

TEST_F(CrashContextDeathTest, AContextEndsWithItsScope) {
  EXPECT_EXIT(
      {
        InstallCrashReporter();
        const CrashContext outer("backend", "outer", "a", "One");
        { const CrashContext inner("backend", "inner", "b", "Two"); }
        raise(SIGBUS);
      },
      ::testing::KilledBySignal(SIGBUS), "SIGBUS .* inside backend 'outer', model 'a'");
}

// Uses up the stack, whatever the compiler makes of a call at the end of a function.
__attribute__((noinline)) int Endless(volatile int* depth) {
  if (*depth < 0) return 0;  // never
  volatile char room[512];
  room[*depth % 512] = 1;
  *depth = *depth + 1;
  return Endless(depth) + room[*depth % 512];
}

TEST_F(CrashContextDeathTest, AThreadWithoutStackIsReported) {
  EXPECT_EXIT(
      {
        InstallCrashReporter();
        std::thread([] {
          const CrashContext context("backend", "deep", "m", "Execute");
          volatile int depth = 0;
          Endless(&depth);
        }).join();
      },
      ::testing::KilledBySignal(SIGSEGV), "SIGSEGV .* inside backend 'deep', model 'm'");
}

TEST_F(CrashContextDeathTest, SoIsOneThatCallsNoBackend) {
  EXPECT_EXIT(
      {
        InstallCrashReporter();
        StartThread({}, [] {
          volatile int depth = 0;
          Endless(&depth);
        }).join();
      },
      ::testing::KilledBySignal(SIGSEGV), "SIGSEGV .* outside of any backend call");
}

TEST_F(CrashContextDeathTest, AStackOfSomebodyElseStays) {
  EXPECT_EXIT(
      {
        InstallCrashReporter();
        std::thread([] {
          static char memory[64 << 10];
          stack_t own = {};
          own.ss_sp = memory;
          own.ss_size = sizeof(memory);
          sigaltstack(&own, nullptr);
          PrepareThreadForCrash();
          stack_t present;
          sigaltstack(nullptr, &present);
          _exit(present.ss_sp == memory ? 7 : 8);
        }).join();
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(CrashContextDeathTest, TheStackGoesWithItsThread) {
  EXPECT_EXIT(
      {
        InstallCrashReporter();
        const auto maps = [] {
          std::ifstream in("/proc/self/maps");
          return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
        };
        // Stacks of threads that have ended are used again.
        const auto run = [] { std::thread([] { PrepareThreadForCrash(); }).join(); };
        for (int i = 0; i < 5; ++i) run();
        const auto before = maps();
        for (int i = 0; i < 50; ++i) run();
        // Each stack that stays is two mappings, and ThreadSanitizer makes a few of its own.
        _exit(maps() < before + 50 ? 7 : 8);
      },
      ::testing::ExitedWithCode(7), "");
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
