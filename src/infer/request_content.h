// SPDX-License-Identifier: Apache-2.0
// RequestContent: what is asked of a model, and who gets the answers: the part of a request that
// its maker fills and that backends see. Base of InferRequest, and not made on its own: code that
// needs no more than the content takes this.
//
// Thread-compatible. Belongs to the maker until the request is issued. In flight only the core's
// additions (override inputs) change, by the request's current owner.
#ifndef NEREID_INFER_REQUEST_CONTENT_H_
#define NEREID_INFER_REQUEST_CONTENT_H_

#include <absl/container/inlined_vector.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/export.h"
#include "infer/infer_input.h"
#include "infer/response_stream.h"
#include "infer/serving_model.h"
#include "model/correlation_id.h"
#include "model/parameter.h"

namespace nereid {

class InferRequest;

inline constexpr uint32_t kRequestFlagSequenceStart = 1;
inline constexpr uint32_t kRequestFlagSequenceEnd = 2;

// The receiver of a request that comes back. `fn` runs on any thread and must not block. After the
// call the core never touches the request again.
struct ReleaseTarget {
  using Fn = void (*)(InferRequest* request, uint32_t flags, const ReleaseTarget& target);
  Fn fn = nullptr;
  void* userp = nullptr;
  void (*foreign_fn)() = nullptr;  // the C API keeps an application's callback here
};

class NEREID_API RequestContent {
 public:
  RequestContent(const RequestContent&) = delete;
  RequestContent& operator=(const RequestContent&) = delete;

  // ---- What the maker sets before Issue. Adding is INVALID_ARGUMENT for a duplicate name. A name
  // is compared with at most one more name than the model has tensors, so that the cost of adding
  // many names stays linear. Issue refuses a request with more names anyway, and finds duplicates
  // that remain after removals.
  void set_id(absl::string_view id) { id_.assign(id.data(), id.size()); }
  void set_flags(uint32_t flags) { flags_ = flags; }
  void set_correlation_id(CorrelationId id) { correlation_id_ = std::move(id); }
  void set_priority(uint64_t priority) { asked_priority_ = priority; }
  void set_timeout_us(uint64_t timeout_us) { timeout_us_ = timeout_us; }
  absl::StatusOr<InferInput*> AddInput(std::string name, DataType type,
                                       absl::Span<const int64_t> shape);
  // The single input whose name, type and shape follow from the model and the byte count.
  absl::StatusOr<InferInput*> AddRawInput(std::string name);
  // Sets how many further inputs were only counted and not added: the request has too many inputs,
  // and Issue refuses it.
  void set_unkept_inputs(size_t count) { unkept_inputs_ = count; }
  absl::Status RemoveInput(absl::string_view name);
  void RemoveAllInputs();
  // Null when there is none. The pointer is valid until the next input is added or removed.
  InferInput* FindInput(absl::string_view name);
  absl::Status AddRequestedOutput(std::string name);
  void RemoveRequestedOutput(absl::string_view name);
  void RemoveAllRequestedOutputs();
  void AddParameter(Parameter parameter) { parameters_.push_back(std::move(parameter)); }
  void set_release_target(const ReleaseTarget& target) { release_ = target; }
  void set_response_target(const ResponseTarget& target) { target_ = target; }

  // ---- Readable by every holder of the request.
  const std::string& id() const { return id_; }
  uint32_t flags() const { return flags_; }
  const CorrelationId& correlation_id() const { return correlation_id_; }
  // The priority that the maker has set, regardless of the model's levels.
  uint64_t asked_priority() const { return asked_priority_; }
  uint64_t timeout_us() const { return timeout_us_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::shared_ptr<ServingModel>& model() const { return model_; }
  int64_t requested_version() const { return requested_version_; }
  absl::InlinedVector<InferInput, 2>& inputs() { return inputs_; }
  const absl::InlinedVector<InferInput, 2>& inputs() const { return inputs_; }
  const absl::InlinedVector<std::string, 2>& asked_outputs() const { return asked_outputs_; }
  const ResponseTarget& response_target() const { return target_; }
  // Whether tensors may have to be copied from or to GPUs, which is not for I/O threads.
  bool touches_gpus() const {
    return target_.on_gpu || std::any_of(inputs_.begin(), inputs_.end(),
                                         [](const InferInput& input) { return input.on_gpu(); });
  }
  const ReleaseTarget& release_target() const { return release_; }
  // "[request id: <id>] ", the prefix of errors about this request.
  std::string LogPrefix() const;

  // ---- What a backend sees: the inputs above, then the inputs that the core added.
  size_t backend_input_count() const { return inputs_.size() + override_inputs_.size(); }
  // REQUIRES: index < backend_input_count().
  InferInput& backend_input(size_t index) {
    return index < inputs_.size() ? inputs_[index] : override_inputs_[index - inputs_.size()];
  }
  // Null if there is none. If a maker's and an added input have the name: the added one.
  InferInput* FindBackendInput(absl::string_view name);
  const InferInput* FindBackendInput(absl::string_view name) const {
    return const_cast<RequestContent*>(this)->FindBackendInput(name);
  }
  // The number of requested outputs, or of all the model's outputs if none was requested.
  size_t output_count() const;
  const std::string& output_name(size_t index) const;
  bool WantsOutput(absl::string_view name) const;
  // Adds an input that only the backend sees, until the flight ends: a control tensor or a state.
  // The input's shape is set, and its name is not a declared input's. Replaces an override input of
  // the same name.
  void AddOverrideInput(InferInput input);
  void ClearOverrideInputs() { override_inputs_.clear(); }

  // ---- After Issue.
  // Batch dimension of the inputs; 0 for a model without batching.
  uint32_t batch_size() const { return batch_size_; }
  // max(1, batch_size): the units for which the request counts in a batch.
  uint32_t units_in_batch() const { return batch_size_ == 0 ? 1 : batch_size_; }

 protected:
  RequestContent(std::shared_ptr<ServingModel> model, int64_t requested_version)
      : model_(std::move(model)), requested_version_(requested_version) {}
  ~RequestContent() = default;
  void set_model(std::shared_ptr<ServingModel> model) { model_ = std::move(model); }

 private:
  friend class RequestValidator;

  absl::Status RepeatedName(absl::string_view kind, absl::string_view name) const;

  std::shared_ptr<ServingModel> model_;  // may be rebound while idle
  const int64_t requested_version_;

  std::string id_;
  uint32_t flags_ = 0;
  CorrelationId correlation_id_;
  uint64_t asked_priority_ = 0;
  uint64_t timeout_us_ = 0;
  absl::InlinedVector<InferInput, 2> inputs_;
  std::vector<InferInput> override_inputs_;  // the core's, not the maker's
  size_t unkept_inputs_ = 0;
  bool raw_input_ = false;
  absl::InlinedVector<std::string, 2> asked_outputs_;
  // An input name was added that has not been compared with all others.
  bool inputs_may_repeat_ = false;
  bool outputs_may_repeat_ = false;
  std::vector<Parameter> parameters_;
  ReleaseTarget release_;
  ResponseTarget target_;
  uint32_t batch_size_ = 0;  // set by Issue
};

}  // namespace nereid

#endif  // NEREID_INFER_REQUEST_CONTENT_H_
