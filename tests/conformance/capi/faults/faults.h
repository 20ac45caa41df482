// SPDX-License-Identifier: Apache-2.0
// Makes allocations and thread creations fail on purpose. A program linked with faults.cc uses its
// operator new and its pthread_create, as do the libraries that it loads; while nothing is armed
// they only forward the call.
//
// Only requests of the project's own code fail: a request from protobuf, or from a library that is
// not ours, is counted but granted. Thread-safe.
#ifndef NEREID_TESTS_CONFORMANCE_CAPI_FAULTS_FAULTS_H_
#define NEREID_TESTS_CONFORMANCE_CAPI_FAULTS_FAULTS_H_

#include <cstdint>

namespace nereid_test::faults {

enum class Kind {
  kAllocation,      // operator new of threads that are inside a Window
  kCoreAllocation,  // operator new of threads that are not the test's
  kThread,          // pthread_create of any thread
};

// From now on one request of that kind fails: the first one made by the project's own code, counted
// from the `number`th request (the first is 1).
void Arm(Kind kind, uint64_t number);
// Disarms all failures. Returns the number of the request that failed; 0 if none did.
uint64_t Disarm();

// On average one in this many fails, at random; 0: none fails.
struct Rates {
  uint32_t allocations = 0;       // of threads inside a Window
  uint32_t core_allocations = 0;  // of threads that are not the test's
  uint32_t threads = 0;           // EAGAIN
  uint32_t files = 0;             // opened for reading, and read: EMFILE and EIO
  uint32_t shorts = 0;            // a read or a send moves about half of the bytes
};
void StartRandom(uint64_t seed, const Rates& rates);
void StopRandom();
uint64_t failed();  // since the program began
// Whether the next read or send should be cut short.
bool Short();

// The owner to whom this thread's allocations are assigned.
enum class Side { kCore, kWindow, kTest };

// During its lifetime, allocations of this thread can fail.
class Window {
 public:
  Window();
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

 private:
  const Side outer_;
};

// During its lifetime, allocations of this thread cannot fail, even inside a Window: for callbacks
// and threads of a test. The main thread belongs to the test anyway.
class Pause {
 public:
  Pause();
  ~Pause();
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

 private:
  const Side outer_;
};

}  // namespace nereid_test::faults

#endif  // NEREID_TESTS_CONFORMANCE_CAPI_FAULTS_FAULTS_H_
