// SPDX-License-Identifier: Apache-2.0
// What tests read from the simulated driver: what is alive, and what has been done. Plain values.
#ifndef NEREID_TESTS_SUPPORT_SIMULATED_CUDA_STATE_H_
#define NEREID_TESTS_SUPPORT_SIMULATED_CUDA_STATE_H_

#include <stdint.h>

extern "C" {

struct SimulatedCudaState {
  // Alive now: all 0 at the end of a test.
  uint64_t contexts;
  uint64_t device_blocks;
  uint64_t device_bytes;
  uint64_t host_blocks;
  uint64_t opened_regions;  // each counted as often as it is open
  uint64_t reservations;    // of addresses for memory that grows
  uint64_t memory_blocks;   // for it
  uint64_t streams;
  uint64_t events;
  uint64_t waiting_copies;
  // Since the driver was initialised.
  uint64_t calls;
  uint64_t copies;       // done
  uint64_t waits;        // calls that waited for a stream or an event
  uint64_t early_frees;  // of memory that a waiting copy uses
};

// Exported by the simulated libcuda.so.1 besides the driver's functions.
void SimulatedCudaReadState(struct SimulatedCudaState* state);
}

#endif  // NEREID_TESTS_SUPPORT_SIMULATED_CUDA_STATE_H_
