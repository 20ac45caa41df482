// SPDX-License-Identifier: Apache-2.0
// WarmupSpec: one sample of `model_warmup`, in plain values. Part of CompiledModel. Immutable.
#ifndef NEREID_CONFIG_WARMUP_SPEC_H_
#define NEREID_CONFIG_WARMUP_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/data_type.h"
#include "model/shape.h"

namespace nereid {

enum class WarmupData { kNone, kZero, kRandom, kFile };

struct WarmupInput {
  std::string name;
  DataType data_type = DataType::kInvalid;
  Shape dims;  // without the batch dimension
  WarmupData data = WarmupData::kNone;
  std::string file;  // kFile: relative to the model's folder `warmup`
};

struct WarmupSpec {
  std::string name;
  uint32_t batch_size = 0;          // requests per execution; 0: the sample is skipped
  uint32_t count = 1;               // executions, at least 1
  std::vector<WarmupInput> inputs;  // by name
};

}  // namespace nereid

#endif  // NEREID_CONFIG_WARMUP_SPEC_H_
