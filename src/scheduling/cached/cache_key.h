// SPDX-License-Identifier: Apache-2.0
// CacheKeys: makes the key under which the response to a request is kept: 128 bits over the model,
// the inputs (name, type, shape, bytes), the requested outputs and the parameters. Immutable.
//
// Not in the key, because they do not change the answer of a stateless model: id, priority,
// timeout, sequence. Inputs and parameters count in the order of their names, requested outputs as
// given.
#ifndef NEREID_SCHEDULING_CACHED_CACHE_KEY_H_
#define NEREID_SCHEDULING_CACHED_CACHE_KEY_H_

#include <absl/strings/string_view.h>

#include <string>

#include "base/blake2b.h"
#include "infer/request_content.h"

namespace nereid {

class CacheKeys {
 public:
  // `fingerprint` stands for the model's configuration and files: models with different
  // fingerprints have no key in common.
  CacheKeys(const CompiledModel& model, absl::string_view fingerprint);

  // Whether Of can tell this request from every other one: its inputs must lie in CPU memory and be
  // the same for every instance.
  static bool CanName(const RequestContent& request);
  // 32 hexadecimal digits. REQUIRES: prepared, CanName(request).
  std::string Of(const RequestContent& request) const;

 private:
  Blake2b128 prefix_;  // what all keys of this model begin with
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_CACHED_CACHE_KEY_H_
