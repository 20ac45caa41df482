// SPDX-License-Identifier: Apache-2.0
#ifndef NEREID_BASE_TESTING_REPEATS_H_
#define NEREID_BASE_TESTING_REPEATS_H_

namespace nereid {

// How often a test repeats what it does at random: a twentieth of `often` under a sanitizer, where
// each time takes that much longer.
constexpr int Repeats(int often) {
#ifdef NEREID_SANITIZED
  return (often + 19) / 20;
#else
  return often;
#endif
}

}  // namespace nereid

#endif  // NEREID_BASE_TESTING_REPEATS_H_
