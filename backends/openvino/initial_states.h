// SPDX-License-Identifier: Apache-2.0
// InitialStates: the initial values of a network's states (ReadValue), which may depend on its
// inputs. That part of the network is compiled as a separate model. Resetting the states of an
// infer request would not do: the CPU plugin (2026.4) then keeps the shape of the previous state if
// the initial value has the same shape as at the last reset. Immutable; thread-safe.
#ifndef NEREID_BACKENDS_OPENVINO_INITIAL_STATES_H_
#define NEREID_BACKENDS_OPENVINO_INITIAL_STATES_H_

#include <map>
#include <memory>
#include <openvino/core/model.hpp>
#include <openvino/runtime/compiled_model.hpp>
#include <openvino/runtime/core.hpp>
#include <string>
#include <vector>

#include "backends/sdk/error.h"

namespace nereid_backend {

class InitialStates {
 public:
  // UNSUPPORTED if a state is read at a place where it cannot be set from outside. May throw
  // ov::Exception.
  static Result<std::unique_ptr<InitialStates>> Create(const ov::Model& graph, ov::Core* core);

  // An infer request for Compute, used by one thread at a time. May throw ov::Exception.
  ov::InferRequest NewRequest() const;

  // The initial values of the states `names`, in that order, for the inputs set in `run`. If the
  // network gives none, the values are zeros, with `rows` rows if their number is open. The tensors
  // belong to `request`. May throw ov::Exception.
  std::vector<ov::Tensor> Compute(const std::vector<std::string>& names, size_t rows,
                                  ov::InferRequest* run, ov::InferRequest* request) const;

 private:
  struct Start {
    size_t output = 0;  // of compiled_
    bool computed = false;
    ov::PartialShape shape;  // shape of the zeros
    ov::element::Type type;
  };

  std::map<std::string, Start> starts_;  // by state name
  std::vector<size_t> inputs_;           // ports of the network, for each input of compiled_
  bool has_computed_ = false;
  mutable ov::CompiledModel compiled_;  // making infer requests is thread-safe, though not const
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_INITIAL_STATES_H_
