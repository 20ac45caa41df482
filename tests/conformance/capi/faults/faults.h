// Makes allocations and thread creations fail on purpose. A program that is linked with faults.cc
// has its operator new and its pthread_create, also for the libraries that it loads; as long as
// nothing is armed these only pass on.
//
// Only what the project's own code asks for fails: a request that comes out of protobuf, or of a
// library that is none of ours, is counted but granted. Thread-safe.
#ifndef NEREID_TESTS_CONFORMANCE_CAPI_FAULTS_FAULTS_H_
#define NEREID_TESTS_CONFORMANCE_CAPI_FAULTS_FAULTS_H_

#include <cstdint>

namespace nereid_test::faults {

enum class Kind {
  kAllocation,      // operator new of threads that are inside a Window
  kCoreAllocation,  // operator new of threads that are not the test's
  kThread,          // pthread_create of any thread
};

// From now on one of that kind fails: the first that is ours from the `number`th on, counted
// from 1.
void Arm(Kind kind, uint64_t number);
// Nothing fails any more. The number of the one that has failed; 0 if none has.
uint64_t Disarm();

// One in so many fails, at random; 0: none does.
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
// Whether what is about to be moved shall fall short.
bool Short();

// Whose an allocation of this thread is.
enum class Side { kCore, kWindow, kTest };

// While it lives allocations of this thread can fail.
class Window {
 public:
  Window();
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

 private:
  const Side outer_;
};

// While it lives they cannot, also inside a Window: callbacks of a test, and threads of its own.
// The main thread is the test's without it.
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
