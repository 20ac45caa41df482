// ModelResolver: how an ensemble finds the models of its steps. Implementations are thread-safe.
#ifndef NEREID_SCHEDULING_ENSEMBLE_MODEL_RESOLVER_H_
#define NEREID_SCHEDULING_ENSEMBLE_MODEL_RESOLVER_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <memory>

#include "config/ensemble_spec.h"
#include "infer/serving_model.h"

namespace nereid {

class ModelResolver {
 public:
  // Why there is no model.
  enum class Missing {
    kNothing,         // there is one
    kUnknown,         // no such name, or several
    kInvalid,         // its configuration or its repository is at fault
    kNotLoaded,       // none of its versions is ready
    kVersionNotReady  // but others are
  };
  struct Found {
    std::shared_ptr<ServingModel> model;  // null: none
    Missing missing = Missing::kNothing;
    absl::Status error;  // of its last load, if that failed
  };

  virtual ~ModelResolver() = default;
  // The version that serves now; or, for a part of `request`, the one where its sequence lives.
  // Null: of no request. Errors: those of a request for that model. Takes no lock on the common
  // path.
  virtual absl::StatusOr<std::shared_ptr<ServingModel>> Resolve(const EnsembleStep& step,
                                                                const InferRequest* request) = 0;
  // The same for the load of an ensemble, which tells the reasons apart.
  virtual Found LookUp(const EnsembleStep& step) = 0;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_MODEL_RESOLVER_H_
