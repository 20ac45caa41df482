// ModelPass: the right to use one version of a model: keeps its object, and as long as it lives the
// backend's model and instances are not finalised. Ends where it is destroyed. Move-only;
// thread-compatible.
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
  ModelPass() = default;  // of no model
  ModelPass(ModelPass&& other) noexcept = default;
  ModelPass& operator=(ModelPass&& other) noexcept {
    const ModelPass old(std::move(*this));  // goes as a whole, in the order below
    model_ = std::move(other.model_);
    pass_ = std::move(other.pass_);
    return *this;
  }

  // Into a version that is not closed; otherwise of no model.
  static ModelPass Enter(std::shared_ptr<ServingModel> model) {
    Gate::Pass pass = model->lifetime().Enter();
    return Made(std::move(model), std::move(pass));
  }
  // Also into a closed one in which anybody is still inside.
  static ModelPass Join(std::shared_ptr<ServingModel> model) {
    Gate::Pass pass = model->lifetime().Join();
    return Made(std::move(model), std::move(pass));
  }
  // As one of these, within a limit: see Gate::EnterFairly. `*entry` says what came of it.
  static ModelPass EnterFairly(std::shared_ptr<ServingModel> model, uint64_t limit, uint64_t held,
                               bool join, Gate::Entry* entry) {
    Gate::Pass pass;
    *entry = model->lifetime().EnterFairly(limit, held, join, &pass);
    return Made(std::move(model), std::move(pass));
  }

  explicit operator bool() const { return model_ != nullptr; }
  // Null: of no model.
  const std::shared_ptr<ServingModel>& model() const { return model_; }
  // One more for the same version. REQUIRES: this is of a model.
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
  Gate::Pass pass_;  // goes first: its end needs the model
};

// How often something is tried again on a version that has taken the place of one that was going.
// Each time takes another swap in the moment between look-up and entry.
inline constexpr int kMostSwaps = 16;

// Calls `attempt` until it returns something. It returns nothing where the version that it has
// looked up was going: by now there is another, or none. Nothing if that happens too often.
template <typename Attempt>
auto RetryOverSwaps(const Attempt& attempt) -> decltype(attempt()) {
  for (int swaps = 0; swaps < kMostSwaps; ++swaps) {
    if (auto result = attempt(); result.has_value()) return result;
  }
  return std::nullopt;
}

}  // namespace nereid

#endif  // NEREID_INFER_MODEL_PASS_H_
