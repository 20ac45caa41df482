// SPDX-License-Identifier: Apache-2.0
#include "scheduling/cached/cache_key.h"

#include <absl/container/inlined_vector.h>
#include <absl/strings/escaping.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <variant>

namespace nereid {
namespace {

// Every piece of variable length is preceded by its length, so that different requests give
// different bytes.
void AddNumber(uint64_t number, Blake2b128* hash) { hash->Update(&number, sizeof(number)); }

void AddText(absl::string_view text, Blake2b128* hash) {
  AddNumber(text.size(), hash);
  hash->Update(text.data(), text.size());
}

void AddInput(const InferInput& input, Blake2b128* hash) {
  AddText(input.name(), hash);
  AddNumber(static_cast<uint64_t>(input.data_type()), hash);
  AddNumber(input.shape().size(), hash);
  for (const int64_t dim : input.shape()) AddNumber(static_cast<uint64_t>(dim), hash);
  AddNumber(input.byte_size(), hash);
  for (const InputBuffer& buffer : input.buffers()) hash->Update(buffer.base, buffer.byte_size);
}

void AddParameter(const Parameter& parameter, Blake2b128* hash) {
  AddText(parameter.name, hash);
  AddNumber(parameter.value.index(), hash);
  std::visit(
      [&](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
          AddText(value, hash);
        } else {
          hash->Update(&value, sizeof(value));
        }
      },
      parameter.value);
}

// The elements of `list`, sorted by name; elements with equal names keep their order.
template <typename List, typename NameOf>
auto Sorted(const List& list, const NameOf& name_of) {
  absl::InlinedVector<const typename List::value_type*, 4> sorted;
  for (const auto& element : list) sorted.push_back(&element);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto* a, const auto* b) { return name_of(*a) < name_of(*b); });
  return sorted;
}

}  // namespace

CacheKeys::CacheKeys(const CompiledModel& model, absl::string_view fingerprint) {
  AddText("nereid response 1", &prefix_);
  AddText(model.name, &prefix_);
  AddNumber(static_cast<uint64_t>(model.version), &prefix_);
  AddText(fingerprint, &prefix_);
}

bool CacheKeys::CanName(const RequestContent& request) {
  return std::all_of(request.inputs().begin(), request.inputs().end(), [](const InferInput& input) {
    return !input.has_policy_buffers() &&
           std::all_of(input.buffers().begin(), input.buffers().end(),
                       [](const InputBuffer& b) { return b.place.type != MemoryType::kGpu; });
  });
}

std::string CacheKeys::Of(const RequestContent& request) const {
  Blake2b128 hash = prefix_;
  AddNumber(request.inputs().size(), &hash);
  const auto input_name = [](const InferInput& input) -> const std::string& {
    return input.name();
  };
  for (const InferInput* input : Sorted(request.inputs(), input_name)) AddInput(*input, &hash);
  AddNumber(request.asked_outputs().size(), &hash);
  for (const std::string& output : request.asked_outputs()) AddText(output, &hash);
  AddNumber(request.parameters().size(), &hash);
  const auto parameter_name = [](const Parameter& parameter) -> const std::string& {
    return parameter.name;
  };
  for (const Parameter* parameter : Sorted(request.parameters(), parameter_name)) {
    AddParameter(*parameter, &hash);
  }
  const Blake2b128::Digest digest = hash.Finish();
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace nereid
