// SPDX-License-Identifier: Apache-2.0
#include "config/utf8.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/descriptor.h>

#include <vector>

#include "base/outside_text.h"

namespace nereid {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// As FindFieldWithInvalidUtf8, for one field of `message`.
std::string FindInField(const Message& message, const FieldDescriptor* field) {
  const Reflection* reflection = message.GetReflection();
  const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
  for (int i = 0; i < count; ++i) {
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const std::string inner = FindFieldWithInvalidUtf8(
          field->is_repeated() ? reflection->GetRepeatedMessage(message, field, i)
                               : reflection->GetMessage(message, field));
      if (!inner.empty()) return absl::StrCat(field->name(), ".", inner);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      const std::string value = field->is_repeated()
                                    ? reflection->GetRepeatedString(message, field, i)
                                    : reflection->GetString(message, field);
      if (!IsValidUtf8(value)) return field->name();
    }
  }
  return "";
}

}  // namespace

std::string FindFieldWithInvalidUtf8(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    std::string found = FindInField(message, field);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace nereid
