// SPDX-License-Identifier: Apache-2.0
// Network: a loaded file of any kind that can be run. Run is thread-safe.
#ifndef NEREID_BACKENDS_PYTORCH_NETWORK_H_
#define NEREID_BACKENDS_PYTORCH_NETWORK_H_

#include <ATen/core/ivalue.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/pytorch/forward.h"
#include "backends/pytorch/parameters.h"
#include "backends/sdk/error.h"

namespace nereid_backend {

// How a network uses its arguments and its own attributes, as far as known.
struct NetworkTraits {
  bool writes_attributes = false;  // forward changes the module
  bool forks = false;              // parts of it run on the inter-op pool
  // Per argument (for a dictionary, one element): forward may write into the tensor.
  std::vector<bool> writes_argument;
};

class Network {
 public:
  virtual ~Network() = default;

  const Forward& forward() const { return forward_; }
  const NetworkTraits& traits() const { return traits_; }

  // Runs the network on one value per argument; None represents an omitted argument. If the network
  // takes a dictionary, that is the only value. The results are in the order of Forward::returned,
  // or one dictionary. Throws what PyTorch throws.
  virtual std::vector<c10::IValue> Run(std::vector<c10::IValue> arguments) const = 0;

 protected:
  Forward forward_;
  NetworkTraits traits_;
};

// A TorchScript file. May throw what PyTorch throws.
Result<std::unique_ptr<Network>> LoadScript(const std::string& path, const Parameters& parameters);

// An AOTInductor package (a file, or a folder with the content of one), for up to `runs` runs at a
// time. May throw what PyTorch throws.
Result<std::unique_ptr<Network>> LoadPackage(const std::string& path, int runs);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_NETWORK_H_
