// SPDX-License-Identifier: Apache-2.0
// ScriptNetwork: a TorchScript module. See Network; forward is thread-safe if it does not write to
// the module.
#ifndef NEREID_BACKENDS_PYTORCH_SCRIPT_NETWORK_H_
#define NEREID_BACKENDS_PYTORCH_SCRIPT_NETWORK_H_

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/pytorch/network.h"

namespace nereid_backend {

// `module`, which forward does not write to, with its attributes as constants of forward's graph: a
// run need not read them. They share the memory of the attributes. If PyTorch cannot freeze the
// module, it is returned as it is, and the log at level 1 says why; `path` names it there.
torch::jit::Module Frozen(const torch::jit::Module& module, const std::string& path);

class ScriptNetwork : public Network {
 public:
  static Result<std::unique_ptr<Network>> Load(const std::string& path,
                                               const Parameters& parameters);

  std::vector<c10::IValue> Run(std::vector<c10::IValue> arguments) const override;

 private:
  explicit ScriptNetwork(const Parameters& parameters) : parameters_(parameters) {}

  Error ReadForward();
  Error ReadArguments(const std::vector<c10::Argument>& arguments);
  void ReadReturned(const std::vector<c10::Argument>& returns);
  // Whether forward takes tensors only, and these are as many. Then the types are right.
  bool AreTensors(const std::vector<c10::IValue>& arguments) const;

  const Parameters parameters_;
  torch::jit::Module module_;
  std::optional<torch::jit::Method> method_;
  std::vector<c10::IValue> defaults_;  // per argument; None if it has no default
  bool takes_tensors_ = true;          // all arguments may be any tensor
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_SCRIPT_NETWORK_H_
