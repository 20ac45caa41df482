// SPDX-License-Identifier: Apache-2.0
// What a URL of S3 says, and with which credentials it is read. Plain values and pure functions,
// but for FindCredentials, which reads a file.
#ifndef NEREID_APPS_CLOUD_S3_PLACE_H_
#define NEREID_APPS_CLOUD_S3_PLACE_H_

#include <functional>
#include <string>
#include <utility>

namespace nereid_cloud {

// A value, or why there is none.
template <typename Value>
struct Outcome {
  Value value;
  std::string error;  // empty: there is a value

  bool ok() const { return error.empty(); }
  static Outcome Failed(std::string why) { return {Value(), std::move(why)}; }
};

// s3://BUCKET/PREFIX, s3://HOST:PORT/BUCKET/PREFIX and s3://http[s]://HOST:PORT/BUCKET/PREFIX.
struct S3Place {
  std::string scheme;    // "http" or "https"
  std::string endpoint;  // HOST:PORT; empty: Amazon's
  std::string bucket;
  std::string prefix;  // without slashes at its ends; empty: the whole bucket

  // Where Arrow finds `path`, which lies below the prefix.
  std::string KeyOf(const std::string& path) const;
  friend bool operator==(const S3Place&, const S3Place&) = default;
};

Outcome<S3Place> ParseS3Url(const std::string& url);

struct S3Credentials {
  std::string key_id;  // with `secret_key`; both empty: the chain of Amazon's SDK, with AWS_PROFILE
  std::string secret_key;
  std::string session_token;
  std::string region;

  friend bool operator==(const S3Credentials&, const S3Credentials&) = default;
};

// The value of a variable of the environment; empty if it is not set.
using Environment = std::function<std::string(const char* name)>;

// From AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_DEFAULT_REGION, AWS_REGION.
S3Credentials CredentialsFromEnvironment(const Environment& environment);
// From the text of the file that TRITON_CLOUD_CREDENTIAL_PATH names: those of the longest prefix of
// `url`.
Outcome<S3Credentials> CredentialsFromJson(const std::string& json, const std::string& url);
// From the file, if there is one; else from the environment.
Outcome<S3Credentials> FindCredentials(const Environment& environment, const std::string& url);

}  // namespace nereid_cloud

#endif  // NEREID_APPS_CLOUD_S3_PLACE_H_
