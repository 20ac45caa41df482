// SPDX-License-Identifier: Apache-2.0
// For tests: work on a thread whose stack is small, as an embedding program may have it.
#ifndef NEREID_LIFECYCLE_TESTING_SMALL_STACK_H_
#define NEREID_LIFECYCLE_TESTING_SMALL_STACK_H_

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
#include <functional>

namespace nereid {

// Runs `work` on a thread with a stack of 256 KiB, and waits for it.
inline void OnSmallStack(std::function<void()> work) {
  constexpr size_t kStack = size_t{256} << 10;
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStack), 0);
  const auto run = [](void* arg) -> void* {
    (*static_cast<std::function<void()>*>(arg))();
    return nullptr;
  };
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_TESTING_SMALL_STACK_H_
