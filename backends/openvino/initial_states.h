// InitialStates: the values that a network's states (ReadValue) begin with, which may depend on its
// inputs. That part of the network is compiled as a model of its own, instead of resetting the
// states of an infer request: the CPU plugin (2026.4) then keeps the shape of the state before
// where the initial value has the same shape as at the last reset. Immutable; thread-safe.
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
  // UNSUPPORTED when a state is read where it can not be given a value from outside. May throw
  // ov::Exception.
  static Result<std::unique_ptr<InitialStates>> Create(const ov::Model& graph, ov::Core* core);

  // For Compute, by one thread at a time. May throw ov::Exception.
  ov::InferRequest NewRequest() const;

  // The initial values of the states `names` for the inputs that are set in `run`, in that order.
  // Where the network gives none, zeros, `rows` of them if their number is open. The tensors are
  // those of `request`. May throw ov::Exception.
  std::vector<ov::Tensor> Compute(const std::vector<std::string>& names, size_t rows,
                                  ov::InferRequest* run, ov::InferRequest* request) const;

 private:
  struct Start {
    size_t output = 0;  // of compiled_
    bool computed = false;
    ov::PartialShape shape;  // of zeros
    ov::element::Type type;
  };

  std::map<std::string, Start> starts_;  // by the name of the state
  std::vector<size_t> inputs_;           // ports of the network, for each input of compiled_
  bool has_computed_ = false;
  mutable ov::CompiledModel compiled_;  // making infer requests is thread-safe, though not const
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_OPENVINO_INITIAL_STATES_H_
