// Which instances of a model are kept when its instance groups change. Pure.
#ifndef NEREID_LIFECYCLE_MODEL_INSTANCE_CHANGES_H_
#define NEREID_LIFECYCLE_MODEL_INSTANCE_CHANGES_H_

#include <cstddef>
#include <vector>

#include "config/compiled_model.h"

namespace nereid {

struct InstanceChanges {
  std::vector<size_t> removed;  // indices into the present instances
  std::vector<size_t> added;    // indices into the wanted instances

  friend bool operator==(const InstanceChanges&, const InstanceChanges&) = default;
};

// A present instance is kept if a wanted one differs from it in its name only. If several could be
// kept, the first ones are.
InstanceChanges CompareInstances(const std::vector<InstanceSpec>& present,
                                 const std::vector<InstanceSpec>& wanted);

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_MODEL_INSTANCE_CHANGES_H_
