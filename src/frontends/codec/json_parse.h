// Part of the careful JSON reader: parses JSON text into a tree, and writes a tree. Stateless.
#ifndef NEREID_FRONTENDS_CODEC_JSON_PARSE_H_
#define NEREID_FRONTENDS_CODEC_JSON_PARSE_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>
#include <rapidjson/document.h>

#include <string>

namespace nereid {

// Parses `json`, including what the original server accepts beyond the standard: NaN, Infinity and
// Inf, strings that are not UTF-8. INVALID_ARGUMENT if it is not JSON, or if arrays inside a
// request's `data` nest deeper than `max_depth`. Numbers are the nearest doubles, unlike
// rapidjson's own.
absl::Status ParseJson(absl::string_view json, int max_depth, rapidjson::Document* tree);

// The tree as text, without spaces. Not for hot paths.
std::string JsonText(const rapidjson::Value& tree);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_CODEC_JSON_PARSE_H_
