// SPDX-License-Identifier: Apache-2.0
#include "cloud/s3_place.h"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>
#include <utility>

namespace nereid_cloud {
namespace {

constexpr std::string_view kScheme = "s3://";

std::string WithoutExtraSlashes(std::string_view text) {
  std::string clean;
  for (const char c : text) {
    if (c == '/' && (clean.empty() || clean.back() == '/')) continue;
    clean += c;
  }
  if (!clean.empty() && clean.back() == '/') clean.pop_back();
  return clean;
}

// Takes "http://" or "https://" off `rest`, and returns it without "://".
std::string TakeScheme(std::string* rest) {
  for (const std::string_view scheme : {"http", "https"}) {
    const std::string start = std::string(scheme) + "://";
    if (rest->compare(0, start.size(), start) != 0) continue;
    rest->erase(0, start.size());
    return std::string(scheme);
  }
  return "";
}

std::string Text(const rapidjson::Value& object, const char* name) {
  const auto member = object.FindMember(name);
  return member != object.MemberEnd() && member->value.IsString()
             ? std::string(member->value.GetString(), member->value.GetStringLength())
             : "";
}

}  // namespace

std::string S3Place::KeyOf(const std::string& path) const {
  std::string key = bucket;
  if (!prefix.empty()) key += "/" + prefix;
  if (!path.empty()) key += "/" + path;
  return key;
}

Outcome<S3Place> ParseS3Url(const std::string& url) {
  static const std::regex host_and_port("[0-9a-zA-Z.-]+:[0-9]+");
  static const std::regex bucket_name("[0-9a-zA-Z._-]+");
  if (url.compare(0, kScheme.size(), kScheme) != 0) {
    return Outcome<S3Place>::Failed("'" + url + "' is no URL of S3: it would begin with s3://");
  }
  std::string rest = url.substr(kScheme.size());
  S3Place place;
  place.scheme = TakeScheme(&rest);
  const bool has_scheme = !place.scheme.empty();
  rest = WithoutExtraSlashes(rest);
  const std::string first = rest.substr(0, rest.find('/'));
  if (std::regex_match(first, host_and_port)) {
    place.endpoint = first;
    rest.erase(0, std::min(rest.size(), first.size() + 1));
    if (!has_scheme) place.scheme = "http";
  } else if (has_scheme) {
    return Outcome<S3Place>::Failed("the URL '" + url + "' names a server without its port: s3://" +
                                    place.scheme + "://HOST:PORT/BUCKET/PATH would be right");
  } else {
    place.scheme = "https";
  }
  place.bucket = rest.substr(0, rest.find('/'));
  if (place.bucket.empty()) {
    return Outcome<S3Place>::Failed("No bucket name found in path: " + url);
  }
  if (!std::regex_match(place.bucket, bucket_name)) {
    return Outcome<S3Place>::Failed("Invalid bucket name: '" + place.bucket + "'");
  }
  rest.erase(0, std::min(rest.size(), place.bucket.size() + 1));
  place.prefix = std::move(rest);
  return {std::move(place), ""};
}

S3Credentials CredentialsFromEnvironment(const Environment& environment) {
  S3Credentials found;
  found.region = environment("AWS_DEFAULT_REGION");
  if (found.region.empty()) found.region = environment("AWS_REGION");
  found.key_id = environment("AWS_ACCESS_KEY_ID");
  found.secret_key = environment("AWS_SECRET_ACCESS_KEY");
  if (!found.key_id.empty() && !found.secret_key.empty()) {
    found.session_token = environment("AWS_SESSION_TOKEN");
    return found;
  }
  found.key_id.clear();
  found.secret_key.clear();
  return found;
}

Outcome<S3Credentials> CredentialsFromJson(const std::string& json, const std::string& url) {
  rapidjson::Document document;
  document.Parse(json.data(), json.size());
  if (document.HasParseError()) {
    // Nothing of the text itself, which holds secrets.
    return Outcome<S3Credentials>::Failed(std::string("failed to parse the request JSON buffer: ") +
                                          rapidjson::GetParseError_En(document.GetParseError()) +
                                          " at " + std::to_string(document.GetErrorOffset()));
  }
  const rapidjson::Value* best = nullptr;
  size_t best_size = 0;
  const bool has_s3 = document.IsObject() && document.HasMember("s3") && document["s3"].IsObject();
  if (has_s3) {
    for (const auto& member : document["s3"].GetObject()) {
      const std::string_view prefix(member.name.GetString(), member.name.GetStringLength());
      const bool matches = member.value.IsObject() && url.compare(0, prefix.size(), prefix) == 0;
      if (!matches || (best != nullptr && prefix.size() < best_size)) continue;
      best = &member.value;
      best_size = prefix.size();
    }
  }
  if (best == nullptr) {
    return Outcome<S3Credentials>::Failed("Cannot match credential for path  " + url);
  }
  S3Credentials found;
  found.key_id = Text(*best, "key_id");
  found.secret_key = Text(*best, "secret_key");
  found.session_token = Text(*best, "session_token");
  found.region = Text(*best, "region");
  const std::string profile = Text(*best, "profile");
  if (!profile.empty() && (found.key_id.empty() || found.secret_key.empty())) {
    return Outcome<S3Credentials>::Failed("the credentials for " + url + " name the profile '" +
                                          profile +
                                          "', which is read for all of a server or not at all: "
                                          "set AWS_PROFILE, or give key_id and secret_key");
  }
  return {std::move(found), ""};
}

Outcome<S3Credentials> FindCredentials(const Environment& environment, const std::string& url) {
  const std::string path = environment("TRITON_CLOUD_CREDENTIAL_PATH");
  if (path.empty()) return {CredentialsFromEnvironment(environment), ""};
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    return Outcome<S3Credentials>::Failed("failed to open text file for read " + path + ": " +
                                          std::strerror(errno));
  }
  return CredentialsFromJson(text.str(), url);
}

}  // namespace nereid_cloud
