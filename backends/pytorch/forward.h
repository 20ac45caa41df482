// SPDX-License-Identifier: Apache-2.0
// Forward: the signature of a network according to its file: the arguments and results of one call.
// Knows no PyTorch. Immutable after reading.
#ifndef NEREID_BACKENDS_PYTORCH_FORWARD_H_
#define NEREID_BACKENDS_PYTORCH_FORWARD_H_

#include <string>
#include <vector>

namespace nereid_backend {

enum class ValueKind {
  kTensor,
  kStrings,  // List[str]
  kUnknown,  // not in the file; known after the network has run
  kOther,    // a type that no client can send or receive
};

struct Argument {
  std::vector<std::string> names;  // names that a configuration may use
  ValueKind kind = ValueKind::kTensor;
  bool defaulted = false;  // a call may omit it
  std::string type;        // in PyTorch's notation
};

struct Returned {
  std::vector<std::string> names;
  ValueKind kind = ValueKind::kTensor;
};

struct Forward {
  // The only argument is a Dict(str, Tensor); `arguments` is then empty.
  bool takes_dictionary = false;
  std::vector<Argument> arguments;

  // The result is a Dict(str, Tensor), whose keys are the names and are not in the file; `returned`
  // is then empty.
  bool gives_dictionary = false;
  std::vector<Returned> returned;

  // "forward(x: Tensor, y: Tensor = ...)".
  std::string text;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_FORWARD_H_
