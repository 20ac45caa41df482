// StateSpec: one entry of `sequence_batching.state`: a tensor that the server carries from one
// request of a sequence to the next. Part of CompiledModel. Immutable.
#ifndef NEREID_CONFIG_STATE_SPEC_H_
#define NEREID_CONFIG_STATE_SPEC_H_

#include <cstdint>
#include <string>

#include "model/data_type.h"
#include "model/shape.h"

namespace nereid {

// What a sequence starts with. Nothing in particular is zeros, too: no sequence is to see what
// another one left in a buffer.
enum class InitialState { kUnset, kZero, kFile };

struct StateSpec {
  std::string input_name;   // as the model reads it
  std::string output_name;  // as the model writes it
  DataType data_type = DataType::kInvalid;
  Shape dims;  // without the batch dimension; kVariableDim where it may vary
  // What a sequence starts with: batch dimension included, where the model has one. Where `dims`
  // vary, as the initial state says, 1 otherwise.
  Shape start_shape;
  uint64_t start_byte_size = 0;  // BYTES: of as many empty texts
  bool same_buffer = false;      // input and output are one and the same buffer
  InitialState initial = InitialState::kUnset;
  std::string initial_file;   // kFile: relative to the model's folder `initial_state`
  std::string initial_bytes;  // kFile: its content; start_byte_size bytes unless BYTES
};

}  // namespace nereid

#endif  // NEREID_CONFIG_STATE_SPEC_H_
