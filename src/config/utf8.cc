#include "config/utf8.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <vector>

namespace nereid {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Removes one code point from the front of `text`. REQUIRES: `text` is not empty.
bool ConsumeCodePoint(absl::string_view* text) {
  const auto lead = static_cast<unsigned char>(text->front());
  size_t length = 0;
  uint32_t smallest = 0;  // smallest code point that needs this many bytes
  if (lead < 0x80) {
    length = 1;
  } else if ((lead & 0xE0) == 0xC0) {
    length = 2;
    smallest = 0x80;
  } else if ((lead & 0xF0) == 0xE0) {
    length = 3;
    smallest = 0x800;
  } else if ((lead & 0xF8) == 0xF0) {
    length = 4;
    smallest = 0x10000;
  }
  if (length == 0 || text->size() < length) return false;
  uint32_t code_point = length == 1 ? lead : lead & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>((*text)[i]);
    if ((next & 0xC0) != 0x80) return false;
    code_point = code_point << 6 | (next & 0x3F);
  }
  text->remove_prefix(length);
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  return code_point >= smallest && code_point <= 0x10FFFF && !is_surrogate;
}

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

bool IsValidUtf8(absl::string_view text) {
  while (!text.empty()) {
    if (!ConsumeCodePoint(&text)) return false;
  }
  return true;
}

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
