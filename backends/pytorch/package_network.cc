// SPDX-License-Identifier: Apache-2.0
// PackageNetwork: an AOTInductor package. See Network.
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <utility>

#include "backends/pytorch/call_spec.h"
#include "backends/pytorch/network.h"

namespace nereid_backend {
namespace {

class PackageNetwork : public Network {
 public:
  PackageNetwork(const std::string& path, int runs)
      : loader_(path, "model", /*run_single_threaded=*/false, static_cast<size_t>(runs)) {}

  Error ReadForward() {
    const std::vector<std::string> spec = loader_.get_call_spec();
    if (spec.size() != 2) {
      return Error::InvalidArg(StrCat("its call specification has ", spec.size(),
                                      " parts instead of one for inputs and one for outputs"));
    }
    NB_ASSIGN_OR_RETURN(forward_, ReadCallSpec(spec[0], spec[1]));
    return Error();
  }

  std::vector<c10::IValue> Run(std::vector<c10::IValue> arguments) const override {
    std::vector<at::Tensor> tensors;
    tensors.reserve(arguments.size());
    for (c10::IValue& argument : arguments) tensors.push_back(std::move(argument).toTensor());
    std::vector<at::Tensor> results = loader_.boxed_run(std::move(tensors));
    return {results.begin(), results.end()};
  }

 private:
  // Runs as many calls at a time as it was made for; further calls wait.
  mutable torch::inductor::AOTIModelPackageLoader loader_;
};

}  // namespace

Result<std::unique_ptr<Network>> LoadPackage(const std::string& path, int runs) {
  auto network = std::make_unique<PackageNetwork>(path, runs);
  NB_RETURN_IF_ERROR(network->ReadForward());
  return std::unique_ptr<Network>(std::move(network));
}

}  // namespace nereid_backend
