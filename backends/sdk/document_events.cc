// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/document_events.h"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <charconv>
#include <system_error>

namespace nereid_backend {
namespace {

// Passes the events of rapidjson on.
class EventsOfRapidjson {
 public:
  explicit EventsOfRapidjson(DocumentEvents* events) : events_(*events) {}

  bool Null() { return events_.OnString(""); }
  bool Bool(bool value) { return events_.OnNumber({value ? 1.0 : 0.0, value ? 1.0f : 0.0f}); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    DocumentNumber number;
    const char* const end = text + size;
    const auto wide = std::from_chars(text, end, number.value);
    if (wide.ptr != end || wide.ec != std::errc()) return false;
    number.single = static_cast<float>(number.value);
    float single = 0;
    if (std::from_chars(text, end, single).ec == std::errc()) number.single = single;
    return events_.OnNumber(number);
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    return events_.OnString({text, size});
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) { return events_.OnKey({text, size}); }
  bool StartObject() { return events_.OnOpen(true); }
  bool EndObject(rapidjson::SizeType) { return events_.OnClose(); }
  bool StartArray() { return events_.OnOpen(false); }
  bool EndArray(rapidjson::SizeType) { return events_.OnClose(); }

  // rapidjson requires these functions; all numbers come through RawNumber.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(int64_t) { return false; }
  bool Uint64(uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  DocumentEvents& events_;
};

constexpr unsigned kDocumentFlags = rapidjson::kParseIterativeFlag |
                                    rapidjson::kParseNumbersAsStringsFlag |
                                    rapidjson::kParseNanAndInfFlag;

}  // namespace

Error ReadJsonDocument(std::string_view text, DocumentEvents* events) {
  EventsOfRapidjson handler(events);
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  const rapidjson::ParseResult result = reader.Parse<kDocumentFlags>(stream, handler);
  if (!result.IsError()) return Error();
  return Error::InvalidArg(
      StrCat("at offset ", result.Offset(), ": ",
             result.Code() == rapidjson::kParseErrorTermination
                 ? "a number is out of range, or the document is not such a model"
                 : rapidjson::GetParseError_En(result.Code())));
}

}  // namespace nereid_backend
