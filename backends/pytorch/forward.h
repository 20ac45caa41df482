// Forward: what a network takes and gives, as its file says: the values that one call has as
// arguments and results. Knows no PyTorch. Immutable after reading.
#ifndef NEREID_BACKENDS_PYTORCH_FORWARD_H_
#define NEREID_BACKENDS_PYTORCH_FORWARD_H_

#include <string>
#include <vector>

namespace nereid_backend {

enum class ValueKind {
  kTensor,
  kStrings,  // List[str]
  kUnknown,  // the file does not say; seen when the network has run
  kOther,    // nothing that a client can send or get
};

struct Argument {
  std::vector<std::string> names;  // by which a configuration may call it
  ValueKind kind = ValueKind::kTensor;
  bool defaulted = false;  // a call may leave it out
  std::string type;        // as PyTorch writes it
};

struct Returned {
  std::vector<std::string> names;
  ValueKind kind = ValueKind::kTensor;
};

struct Forward {
  // One argument that is a Dict(str, Tensor), and nothing else: `arguments` is empty.
  bool takes_dictionary = false;
  std::vector<Argument> arguments;

  // A Dict(str, Tensor): the names are its keys, which the file does not say; `returned` is empty.
  bool gives_dictionary = false;
  std::vector<Returned> returned;

  // "forward(x: Tensor, y: Tensor = ...)".
  std::string text;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_FORWARD_H_
