// SPDX-License-Identifier: Apache-2.0
// Variables: the environment of a process to be started. A value; thread-compatible.
#ifndef NEREID_BACKENDS_PYTHON_ENVIRONMENT_VARIABLES_H_
#define NEREID_BACKENDS_PYTHON_ENVIRONMENT_VARIABLES_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid_backend {

class Variables {
 public:
  Variables() = default;
  // `list`: NAME=VALUE. If a name occurs several times, the first one counts, as for getenv.
  explicit Variables(std::vector<std::string> list) : list_(std::move(list)) {}
  // REQUIRES: no other thread changes them meanwhile.
  static Variables OfThisProcess();

  // Empty if it is not set.
  std::optional<std::string> Get(std::string_view name) const;
  void Set(std::string_view name, std::string_view value);
  void SetUnlessGiven(std::string_view name, std::string_view value);
  void Remove(std::string_view name);

  const std::vector<std::string>& list() const { return list_; }

 private:
  std::vector<std::string> list_;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_ENVIRONMENT_VARIABLES_H_
