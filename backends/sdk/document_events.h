// SPDX-License-Identifier: Apache-2.0
// DocumentEvents: what a reader of a large document reports, in its order, so that a backend keeps
// only the parts that it needs. Stateless.
#ifndef NEREID_BACKENDS_SDK_DOCUMENT_EVENTS_H_
#define NEREID_BACKENDS_SDK_DOCUMENT_EVENTS_H_

#include <string_view>

#include "backends/sdk/error.h"

namespace nereid_backend {

// A number as both types: the nearest float to a decimal text is not always the nearest float to
// the nearest double.
struct DocumentNumber {
  double value = 0;
  float single = 0;
};

// All return false to end the reading.
class DocumentEvents {
 public:
  virtual ~DocumentEvents() = default;
  virtual bool OnKey(std::string_view key) = 0;
  virtual bool OnString(std::string_view text) = 0;
  virtual bool OnNumber(const DocumentNumber& number) = 0;  // booleans too: 0 and 1
  virtual bool OnOpen(bool is_object) = 0;
  virtual bool OnClose() = 0;
};

// Reports the one value of JSON that is all of `text`; NaN and Infinity are numbers. INVALID_ARG
// with the offset if it is not one, or if `events` ends the reading.
Error ReadJsonDocument(std::string_view text, DocumentEvents* events);

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_SDK_DOCUMENT_EVENTS_H_
