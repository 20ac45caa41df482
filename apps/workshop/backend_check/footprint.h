// SPDX-License-Identifier: Apache-2.0
// Footprint: what the process holds at a moment, to see what loads and requests leave behind.
#ifndef NEREID_APPS_WORKSHOP_BACKEND_CHECK_FOOTPRINT_H_
#define NEREID_APPS_WORKSHOP_BACKEND_CHECK_FOOTPRINT_H_

#include <cstdint>

namespace nereid {

struct Footprint {
  int64_t threads = 0;
  int64_t descriptors = 0;
  int64_t processes = 0;   // children, zombies included
  int64_t heap_bytes = 0;  // allocated and not freed

  static Footprint Now();
};

}  // namespace nereid

#endif  // NEREID_APPS_WORKSHOP_BACKEND_CHECK_FOOTPRINT_H_
