// SPDX-License-Identifier: Apache-2.0
// Held while the runtime makes or destroys something, because it (2026.4) occasionally crashes if
// two threads do so at the same time.
#ifndef NEREID_BACKENDS_GENERATIVE_NETWORK_SETUP_MUTEX_H_
#define NEREID_BACKENDS_GENERATIVE_NETWORK_SETUP_MUTEX_H_

#include <mutex>

namespace nereid_backend {

inline std::mutex& SetupMutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_GENERATIVE_NETWORK_SETUP_MUTEX_H_
