// SPDX-License-Identifier: Apache-2.0
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
  // Why no model was found.
  enum class Missing {
    kNothing,         // a model was found
    kUnknown,         // no such name, or several
    kInvalid,         // its configuration or its repository is at fault
    kNotLoaded,       // none of its versions is ready
    kVersionNotReady  // but other versions are
  };
  struct Found {
    std::shared_ptr<ServingModel> model;  // null: not found
    Missing missing = Missing::kNothing;
    absl::Status error;  // of the model's last load, if that failed
  };

  virtual ~ModelResolver() = default;
  // The version that serves now; or, if another version has the sequence of `request`, that one.
  // `request` may be null. Errors: those of a request for that model. Takes no lock on the common
  // path.
  virtual absl::StatusOr<std::shared_ptr<ServingModel>> Resolve(const EnsembleStep& step,
                                                                const InferRequest* request) = 0;
  // The version that serves now, for the load of an ensemble, which has to know why a model is
  // missing.
  virtual Found LookUp(const EnsembleStep& step) = 0;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ENSEMBLE_MODEL_RESOLVER_H_
