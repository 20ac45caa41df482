// SPDX-License-Identifier: Apache-2.0
#include "backends/python/environment/variables.h"

#include <unistd.h>

#include <algorithm>

namespace nereid_backend {
namespace {

bool Names(const std::string& entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' &&
         std::string_view(entry).substr(0, name.size()) == name;
}

}  // namespace

Variables Variables::OfThisProcess() {
  std::vector<std::string> list;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    list.emplace_back(*entry);
  }
  return Variables(std::move(list));
}

std::optional<std::string> Variables::Get(std::string_view name) const {
  for (const std::string& entry : list_) {
    if (Names(entry, name)) return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

void Variables::Set(std::string_view name, std::string_view value) {
  Remove(name);
  list_.push_back(std::string(name) + "=" + std::string(value));
}

void Variables::SetUnlessGiven(std::string_view name, std::string_view value) {
  if (!Get(name).has_value()) Set(name, value);
}

void Variables::Remove(std::string_view name) {
  list_.erase(std::remove_if(list_.begin(), list_.end(),
                             [&](const std::string& entry) { return Names(entry, name); }),
              list_.end());
}

}  // namespace nereid_backend
