// SPDX-License-Identifier: Apache-2.0
// HeaderForwarding: which headers of a request its model gets, as parameters: those whose name
// holds a pattern (--http-header-forward-pattern, --grpc-header-forward-pattern). A plain value;
// immutable, thread-safe.
#ifndef NEREID_FRONTENDS_HEADER_FORWARDING_HEADER_FORWARDING_H_
#define NEREID_FRONTENDS_HEADER_FORWARDING_HEADER_FORWARDING_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <memory>
#include <string>
#include <utility>

#include "infer/infer_request.h"

namespace re2 {
class RE2;
}

namespace nereid {

class HeaderForwarding {
 public:
  // Forwards nothing.
  HeaderForwarding() = default;
  // `pattern` is a regular expression of RE2, matches any part of a name, and does not distinguish
  // upper from lower case. Empty: nothing is forwarded. INVALID_ARGUMENT if it is no expression.
  static absl::StatusOr<HeaderForwarding> Create(const std::string& pattern);

  bool active() const { return pattern_ != nullptr; }
  // Adds the header to `request` as a parameter if its name matches. INVALID_ARGUMENT for a name
  // that means something else among the parameters.
  absl::Status Forward(absl::string_view name, absl::string_view value,
                       InferRequest* request) const;

 private:
  explicit HeaderForwarding(std::shared_ptr<const re2::RE2> pattern)
      : pattern_(std::move(pattern)) {}

  std::shared_ptr<const re2::RE2> pattern_;  // null: none
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HEADER_FORWARDING_HEADER_FORWARDING_H_
