// SPDX-License-Identifier: Apache-2.0
// StateSpec: one entry of `sequence_batching.state`: a tensor that the server carries from one
// request of a sequence to the next. Part of CompiledModel. Immutable.
#ifndef NEREID_CONFIG_STATE_SPEC_H_
#define NEREID_CONFIG_STATE_SPEC_H_

#include <cstdint>
#include <string>

#include "model/data_type.h"
#include "model/shape.h"

namespace nereid {

// What a sequence starts with. kUnset means zeros, too: a sequence must not see what another one
// left in a buffer.
enum class InitialState { kUnset, kZero, kFile };

struct StateSpec {
  std::string input_name;   // name under which the model reads it
  std::string output_name;  // name under which the model writes it
  DataType data_type = DataType::kInvalid;
  Shape dims;  // without the batch dimension; kVariableDim for a variable dimension
  // Shape of the initial state, including the batch dimension if the model has one. Variable
  // dimensions of `dims` are taken from the configured initial state, otherwise 1.
  Shape start_shape;
  uint64_t start_byte_size = 0;  // BYTES: size of that many empty strings
  bool same_buffer = false;      // input and output are one and the same buffer
  bool growable = false;  // with same_buffer: on a GPU the buffer keeps its address while it grows
  InitialState initial = InitialState::kUnset;
  std::string initial_file;   // kFile: relative to the model's folder `initial_state`
  std::string initial_bytes;  // kFile: content of the file; start_byte_size bytes unless BYTES
};

}  // namespace nereid

#endif  // NEREID_CONFIG_STATE_SPEC_H_
