// SPDX-License-Identifier: Apache-2.0
// AccessControl: whether a request may use its group of the API, by its headers. One per frontend.
// Immutable but for the keys of its file; thread-safe.
#ifndef NEREID_FRONTENDS_ACCESS_ACCESS_CONTROL_H_
#define NEREID_FRONTENDS_ACCESS_ACCESS_CONTROL_H_

#include <absl/functional/function_ref.h>
#include <absl/strings/string_view.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "frontends/access/api_group.h"
#include "frontends/access/api_keys.h"
#include "frontends/access/restricted_apis.h"

namespace nereid {

struct AccessRefusal {
  enum class Reason : uint8_t {
    kRestricted,  // the header that the group needs is missing or wrong
    kNoKey,       // no key, or an unknown one
    kNotOpened,   // a key that does not open the group
    kOff,         // the server does not offer the group
  };
  Reason reason;
  std::string message;
};

class AccessControl {
 public:
  // The value of a header by its name in lower case; empty if the request has none.
  using HeaderFinder = absl::FunctionRef<absl::string_view(absl::string_view name)>;

  // Nothing is restricted.
  AccessControl() = default;
  // `key_prefix` stands before the keys of `restricted` in the names of headers. `thing` is what
  // messages call the restricted: "API". `keys` (null: none) must outlive this object.
  AccessControl(const RestrictedApis& restricted, const std::string& key_prefix,
                absl::string_view thing, ApiKeys* keys);

  // Closes `group` to everybody, unless a header or a file of keys says who may use it. `how`: the
  // sentence that says how the group is opened. REQUIRES: nobody checks yet.
  void CloseUnlessGuarded(ApiGroup group, absl::string_view how);
  // Closes `group` to everybody, whatever says who may use it. `why`: a sentence about the way out.
  // REQUIRES: nobody checks yet.
  void Close(ApiGroup group, absl::string_view why);
  // The header, in lower case, that requests of `group` need; null: none.
  const std::string* RestrictingHeader(ApiGroup group) const {
    const std::optional<Header>& header = restricted_[static_cast<size_t>(group)];
    return header.has_value() ? &header->name : nullptr;
  }
  // What the requests of a group have to carry.
  struct Needs {
    std::string header;  // its name in lower case; empty: none
    bool key = false;    // "Authorization: Bearer <key>"

    bool operator==(const Needs&) const = default;
  };
  // As of now. Reads the file of keys at times.
  Needs NeedsOf(ApiGroup group) const;
  // Nothing if the request is allowed. Reads the file of keys at times.
  std::optional<AccessRefusal> Check(ApiGroup group, HeaderFinder find) const {
    if (!active_) return std::nullopt;
    return CheckActive(group, find);
  }

 private:
  struct Header {
    std::string name;  // in lower case
    Secret value;
    std::string refusal;
  };

  std::optional<AccessRefusal> CheckActive(ApiGroup group, HeaderFinder find) const;
  std::optional<AccessRefusal> CheckKey(ApiGroup group, HeaderFinder find) const;

  std::array<std::optional<Header>, kApiGroups> restricted_;
  std::array<std::string, kApiGroups> off_;  // not empty: why the group is closed
  ApiKeys* keys_ = nullptr;
  bool active_ = false;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_ACCESS_ACCESS_CONTROL_H_
