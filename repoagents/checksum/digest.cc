// SPDX-License-Identifier: Apache-2.0
#include "repoagents/checksum/digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

namespace nereid_checksum {
namespace {

using nereid_backend::Error;
using nereid_backend::Result;
using nereid_backend::StrCat;

constexpr size_t kBufferSize = 1 << 20;

struct DeleteContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

const EVP_MD* Algorithm(const std::string& kind) {
  return kind == "MD5" ? EVP_md5() : EVP_sha256();
}

std::string ToHex(const unsigned char* bytes, size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

bool StaysInside(const std::string& path) {
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  return normal.is_relative() && normal.begin() != normal.end() && *normal.begin() != "..";
}

}  // namespace

Result<Expected> ReadParameter(std::string_view name, std::string_view value) {
  const size_t colon = name.find(':');
  Expected expected;
  expected.kind = std::string(name.substr(0, colon));
  if (colon == std::string_view::npos || (expected.kind != "MD5" && expected.kind != "SHA256")) {
    return Error::InvalidArg(
        StrCat("Unexpected parameter '", name,
               "' of the checksum agent: expected 'MD5:<path>' or 'SHA256:<path>'"));
  }
  // A slash in front means the model's directory, as in Triton.
  const std::string_view path = name.substr(colon + 1);
  expected.path = std::string(path.substr(std::min(path.size(), path.find_first_not_of('/'))));
  if (!StaysInside(expected.path)) {
    return Error::InvalidArg(
        StrCat("the path of parameter '", name, "' leads out of the model's directory"));
  }
  expected.sum = std::string(value);
  std::transform(expected.sum.begin(), expected.sum.end(), expected.sum.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const size_t length = 2 * static_cast<size_t>(EVP_MD_get_size(Algorithm(expected.kind)));
  if (expected.sum.size() != length) {
    return Error::InvalidArg(StrCat("the value of parameter '", name, "' has ", expected.sum.size(),
                                    " characters; a sum of this kind has ", length));
  }
  return expected;
}

Result<std::string> SumOfFile(const std::string& kind, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::unique_ptr<EVP_MD_CTX, DeleteContext> context(EVP_MD_CTX_new());
  if (!file || EVP_DigestInit_ex(context.get(), Algorithm(kind), nullptr) != 1) {
    return Error::NotFound(StrCat("cannot read ", path));
  }
  std::vector<char> buffer(kBufferSize);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    EVP_DigestUpdate(context.get(), buffer.data(), static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) return Error::NotFound(StrCat("cannot read ", path));
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum;
  unsigned int size = 0;
  EVP_DigestFinal_ex(context.get(), sum.data(), &size);
  return ToHex(sum.data(), size);
}

Error Check(const std::string& directory, const Expected& expected) {
  Result<std::string> sum =
      SumOfFile(expected.kind, (std::filesystem::path(directory) / expected.path).string());
  if (!sum.ok()) return sum.TakeError();
  if (*sum == expected.sum) return Error();
  return Error::InvalidArg(StrCat("Mismatched ", expected.kind, " hash for file ", expected.path));
}

}  // namespace nereid_checksum
