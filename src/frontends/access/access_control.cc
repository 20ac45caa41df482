// SPDX-License-Identifier: Apache-2.0
#include "frontends/access/access_control.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "frontends/access/bearer.h"

namespace nereid {

AccessControl::AccessControl(const RestrictedApis& restricted, const std::string& key_prefix,
                             absl::string_view thing, ApiKeys* keys)
    : keys_(keys), active_(keys != nullptr || !restricted.empty()) {
  for (size_t i = 0; i < kApiGroups; ++i) {
    const RestrictedApis::Header* const header = restricted.Find(static_cast<ApiGroup>(i));
    if (header == nullptr) continue;
    const std::string name = key_prefix + header->key;
    restricted_[i] =
        Header{absl::AsciiStrToLower(name), header->value,
               absl::StrCat("This ", thing, " is restricted, expecting header '", name, "'")};
  }
}

void AccessControl::CloseUnlessGuarded(ApiGroup group, absl::string_view how) {
  if (RestrictingHeader(group) == nullptr && keys_ == nullptr) Close(group, how);
}

void AccessControl::Close(ApiGroup group, absl::string_view why) {
  const auto index = static_cast<size_t>(group);
  restricted_[index].reset();
  off_[index] = absl::StrCat("the API group '", ApiGroupName(group), "' is switched off: ", why);
  active_ = true;
}

AccessControl::Needs AccessControl::NeedsOf(ApiGroup group) const {
  Needs needs;
  if (const std::string* const header = RestrictingHeader(group)) needs.header = *header;
  needs.key = keys_ != nullptr && (keys_->Current()->open() & SetOf(group)) == 0;
  return needs;
}

std::optional<AccessRefusal> AccessControl::CheckActive(ApiGroup group, HeaderFinder find) const {
  if (const auto& header = restricted_[static_cast<size_t>(group)]; header.has_value()) {
    if (!(header->value == Secret(find(header->name)))) {
      return AccessRefusal{AccessRefusal::Reason::kRestricted, header->refusal};
    }
  }
  if (const std::string& off = off_[static_cast<size_t>(group)]; !off.empty()) {
    return AccessRefusal{AccessRefusal::Reason::kOff, off};
  }
  return keys_ == nullptr ? std::nullopt : CheckKey(group, find);
}

std::optional<AccessRefusal> AccessControl::CheckKey(ApiGroup group, HeaderFinder find) const {
  const std::shared_ptr<const ApiKeySet> keys = keys_->Current();
  if ((keys->open() & SetOf(group)) != 0) return std::nullopt;
  const absl::string_view key = BearerKey(find("authorization"));
  if (key.empty()) {
    return AccessRefusal{
        AccessRefusal::Reason::kNoKey,
        absl::StrCat("the API group '", ApiGroupName(group),
                     "' needs a key: send it as header 'Authorization: Bearer <key>'")};
  }
  const ApiGroupSet opened = keys->OpenedBy(key);
  if ((opened & SetOf(group)) != 0) return std::nullopt;
  if (opened == 0) {
    return AccessRefusal{AccessRefusal::Reason::kNoKey, "the key of the request is unknown"};
  }
  return AccessRefusal{AccessRefusal::Reason::kNotOpened,
                       absl::StrCat("the key of the request does not open the API group '",
                                    ApiGroupName(group), "'")};
}

}  // namespace nereid
