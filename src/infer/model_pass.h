// ModelPass: the right to use one version of a model. While a pass lives, the version's object is
// kept, and the backend's model and instances are not finalised. Move-only; thread-compatible.
#ifndef NEREID_INFER_MODEL_PASS_H_
#define NEREID_INFER_MODEL_PASS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/gate.h"
#include "infer/serving_model.h"

namespace nereid {

class [[nodiscard]] ModelPass {
 public:
  ModelPass() = default;  // belongs to no model
  ModelPass(ModelPass&& other) noexcept = default;
  ModelPass& operator=(ModelPass&& other) noexcept {
    const ModelPass old(std::move(*this));  // destroyed as a whole, in the order of members below
    model_ = std::move(other.model_);
    pass_ = std::move(other.pass_);
    return *this;
  }

  // Enters a version that is not closed; otherwise returns a pass of no model.
  static ModelPass Enter(std::shared_ptr<ServingModel> model) {
    Gate::Pass pass = model->lifetime().Enter();
    return Made(std::move(model), std::move(pass));
  }
  // Like Enter, but also enters a closed version if anybody is still inside.
  static ModelPass Join(std::shared_ptr<ServingModel> model) {
    Gate::Pass pass = model->lifetime().Join();
    return Made(std::move(model), std::move(pass));
  }
  // Like Enter or Join, within a limit: see Gate::EnterFairly. `*entry` says how it went.
  static ModelPass EnterFairly(std::shared_ptr<ServingModel> model, uint64_t limit, uint64_t held,
                               bool join, Gate::Entry* entry) {
    Gate::Pass pass;
    *entry = model->lifetime().EnterFairly(limit, held, join, &pass);
    return Made(std::move(model), std::move(pass));
  }

  explicit operator bool() const { return model_ != nullptr; }
  // Null if the pass belongs to no model.
  const std::shared_ptr<ServingModel>& model() const { return model_; }
  // Another pass of the same version. REQUIRES: this pass belongs to a model.
  ModelPass Another() const { return Made(model_, pass_.Another()); }

 private:
  static ModelPass Made(std::shared_ptr<ServingModel> model, Gate::Pass pass) {
    ModelPass made;
    if (!pass) return made;
    made.model_ = std::move(model);
    made.pass_ = std::move(pass);
    return made;
  }

  std::shared_ptr<ServingModel> model_;
  Gate::Pass pass_;  // destroyed first: its end needs the model
};

// How often an attempt is repeated because the version found was being replaced. Each repetition
// means that another swap fell in the moment between look-up and entry.
inline constexpr int kMostSwaps = 16;

// Calls `attempt` until it returns a value. `attempt` returns none if the version that it has
// looked up was closed meanwhile: by now there is another version, or none. Returns none if that
// happens too often.
template <typename Attempt>
auto RetryOverSwaps(const Attempt& attempt) -> decltype(attempt()) {
  for (int swaps = 0; swaps < kMostSwaps; ++swaps) {
    if (auto result = attempt(); result.has_value()) return result;
  }
  return std::nullopt;
}

}  // namespace nereid

#endif  // NEREID_INFER_MODEL_PASS_H_
