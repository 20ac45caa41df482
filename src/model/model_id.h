// SPDX-License-Identifier: Apache-2.0
// ModelId: identifies one model of one repository. A plain value.
#ifndef NEREID_MODEL_MODEL_ID_H_
#define NEREID_MODEL_MODEL_ID_H_

#include <compare>
#include <string>

namespace nereid {

struct ModelId {
  std::string space;  // the path of its repository if --model-namespacing is on, otherwise empty
  std::string name;

  // "<name>", or "<space>::<name>".
  std::string Text() const { return space.empty() ? name : space + "::" + name; }

  friend auto operator<=>(const ModelId&, const ModelId&) = default;
};

}  // namespace nereid

#endif  // NEREID_MODEL_MODEL_ID_H_
