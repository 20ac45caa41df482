// MemberResolver: finds the models that ensembles consist of. Thread-safe. Owned by the model
// manager.
#ifndef NEREID_LIFECYCLE_MEMBER_RESOLVER_H_
#define NEREID_LIFECYCLE_MEMBER_RESOLVER_H_

#include <absl/status/statusor.h>

#include <memory>

#include "lifecycle/catalogue/model_catalogue.h"
#include "scheduling/ensemble/model_resolver.h"

namespace nereid {

class MemberResolver final : public ModelResolver {
 public:
  // `catalogue` outlives this.
  explicit MemberResolver(const ModelCatalogue* catalogue) : catalogue_(*catalogue) {}

  absl::StatusOr<std::shared_ptr<ServingModel>> Resolve(const EnsembleStep& step,
                                                        const InferRequest* request) override;
  Found LookUp(const EnsembleStep& step) override;

 private:
  const ModelCatalogue& catalogue_;
};

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MEMBER_RESOLVER_H_
