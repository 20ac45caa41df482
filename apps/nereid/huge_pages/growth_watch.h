// SPDX-License-Identifier: Apache-2.0
// GrowthWatch: tells from samples of a process's memory when it is worth moving it to huge pages.
// Thread-compatible.
#ifndef NEREID_APPS_NEREID_HUGE_PAGES_GROWTH_WATCH_H_
#define NEREID_APPS_NEREID_HUGE_PAGES_GROWTH_WATCH_H_

#include <cstdint>

namespace nereid {

class GrowthWatch {
 public:
  // Less growth is not worth a look at the whole memory.
  static constexpr uint64_t kLeastGrowth = uint64_t{16} << 20;
  // What grows or shrinks by less from one sample to the next is at rest.
  static constexpr uint64_t kAtRest = uint64_t{1} << 20;
  // Memory that never rests is looked at after this many samples.
  static constexpr int kMostPatience = 12;

  // Takes the next sample. Returns whether the memory is at rest, so that what only a load needed
  // is gone, and larger than its smallest size since the last Done. Before the first Done, all of
  // it counts as growth.
  bool HasGrown(uint64_t bytes);
  // The memory was moved, and has this many bytes now.
  void Done(uint64_t bytes);

 private:
  uint64_t floor_ = 0;
  uint64_t last_ = 0;
  int samples_grown_ = 0;  // in succession
  int samples_at_rest_ = 0;
};

}  // namespace nereid

#endif  // NEREID_APPS_NEREID_HUGE_PAGES_GROWTH_WATCH_H_
