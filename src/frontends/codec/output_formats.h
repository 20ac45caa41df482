// SPDX-License-Identifier: Apache-2.0
// OutputFormats: the form in which a client wants the outputs of its request. A plain value: filled
// by the request reader, owned by the frontend's request, read by the response writer.
#ifndef NEREID_FRONTENDS_CODEC_OUTPUT_FORMATS_H_
#define NEREID_FRONTENDS_CODEC_OUTPUT_FORMATS_H_

#include <absl/container/inlined_vector.h>
#include <absl/strings/string_view.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "frontends/codec/non_finite.h"
#include "frontends/shared_memory/shared_memory_registry.h"

namespace nereid {

struct OutputFormat {
  bool binary = false;          // raw bytes after the JSON instead of `data` in it
  uint64_t classification = 0;  // > 0: this many best classes instead of the tensor
};

struct OutputFormats {
  struct Named {
    std::string name;
    OutputFormat format;
    SharedMemorySlice place = {};  // where the tensor is written; null data: in the response
  };

  NonFinite non_finite = NonFinite::kLiteral;
  OutputFormat fallback;                // for outputs that the request does not name
  absl::InlinedVector<Named, 2> named;  // in the order of the request

  const OutputFormat& For(absl::string_view name) const {
    const Named* const one = Find(name);
    return one == nullptr ? fallback : one->format;
  }
  // Null for an output that the request does not name, or for which it names no place.
  const SharedMemorySlice* PlaceOf(absl::string_view name) const {
    const Named* const one = Find(name);
    return one == nullptr || one->place.data == nullptr ? nullptr : &one->place;
  }
  // Whether no output is written as JSON.
  bool AllBinary() const {
    return named.empty() ? fallback.binary
                         : std::all_of(named.begin(), named.end(),
                                       [](const Named& one) { return one.format.binary; });
  }
  bool Classifies() const {
    return fallback.classification > 0 ||
           std::any_of(named.begin(), named.end(),
                       [](const Named& one) { return one.format.classification > 0; });
  }
  bool HasPlaces() const {
    return std::any_of(named.begin(), named.end(),
                       [](const Named& one) { return one.place.data != nullptr; });
  }

  // Whether an output is written to memory of a GPU.
  bool OnGpu() const {
    return std::any_of(named.begin(), named.end(),
                       [](const Named& one) { return one.place.place.type == MemoryType::kGpu; });
  }

 private:
  // Requests name a handful of outputs: comparing is faster than hashing.
  const Named* Find(absl::string_view name) const {
    for (const Named& one : named) {
      if (absl::string_view(one.name) == name) return &one;
    }
    return nullptr;
  }
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_OUTPUT_FORMATS_H_
