// Network: a loaded file that can be run, whatever its kind. Run is thread-safe.
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

// What is known of how a network uses its arguments and its own attributes.
struct NetworkTraits {
  bool writes_attributes = false;  // forward changes the module
  bool forks = false;              // parts of it run on the inter-op pool
  // By argument (of a dictionary the only element): forward may write into the tensor.
  std::vector<bool> writes_argument;
};

class Network {
 public:
  virtual ~Network() = default;

  const Forward& forward() const { return forward_; }
  const NetworkTraits& traits() const { return traits_; }

  // Runs it on one value for each argument; None stands for one that is left out. For a network
  // that takes a dictionary, the one value is that. The results are in the order of
  // Forward::returned, or one dictionary. Throws what PyTorch throws.
  virtual std::vector<c10::IValue> Run(std::vector<c10::IValue> arguments) const = 0;

 protected:
  Forward forward_;
  NetworkTraits traits_;
};

// A TorchScript file. May throw what PyTorch throws.
Result<std::unique_ptr<Network>> LoadScript(const std::string& path, const Parameters& parameters);

// An AOTInductor package (a file or what lies in one, in a folder), for up to `runs` runs at a
// time. May throw what PyTorch throws.
Result<std::unique_ptr<Network>> LoadPackage(const std::string& path, int runs);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_NETWORK_H_
