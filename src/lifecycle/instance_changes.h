// Which instances of a model go on when its instance groups change. Pure.
#ifndef NEREID_LIFECYCLE_INSTANCE_CHANGES_H_
#define NEREID_LIFECYCLE_INSTANCE_CHANGES_H_

#include <cstddef>
#include <vector>

#include "config/compiled_model.h"

namespace nereid {

struct InstanceChanges {
  std::vector<size_t> removed;  // indices into what there is
  std::vector<size_t> added;    // indices into what is wanted

  friend bool operator==(const InstanceChanges&, const InstanceChanges&) = default;
};

// An instance goes on where one is wanted that differs from it in its name only. Of several that
// could, the first ones do.
InstanceChanges CompareInstances(const std::vector<InstanceSpec>& present,
                                 const std::vector<InstanceSpec>& wanted);

}  // namespace nereid

#endif  // NEREID_LIFECYCLE_INSTANCE_CHANGES_H_
