// SPDX-License-Identifier: Apache-2.0
#include "cloud/s3_store.h"

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/util/key_value_metadata.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

namespace nereid_cloud {
namespace {

using arrow::Result;
using arrow::Status;
using arrow::fs::FileInfo;
using arrow::fs::FileType;
using nereid::CloudObject;
using nereid::CloudReply;
using nereid::CloudRequest;

constexpr double kConnectSeconds = 5;
constexpr int64_t kAttempts = 3;
constexpr int64_t kRange = int64_t{4} << 20;
constexpr int64_t kMostRangesOfAFile = 4;
// Each takes its size of memory.
constexpr std::ptrdiff_t kMostRanges = 24;

std::counting_semaphore<kMostRanges>& FreeRanges() {
  static std::counting_semaphore<kMostRanges> free(kMostRanges);
  return free;
}

// A file that is written; closed on destruction.
class Target {
 public:
  explicit Target(const std::string& path)
      : path_(path), file_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {}
  ~Target() {
    if (file_ >= 0) close(file_);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  Status status() const { return file_ >= 0 ? Status::OK() : Failed(); }
  Status Write(const uint8_t* bytes, int64_t size, int64_t at) const {
    while (size > 0) {
      const ssize_t written = pwrite(file_, bytes, static_cast<size_t>(size), at);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return Failed();
      bytes += written;
      size -= written;
      at += written;
    }
    return Status::OK();
  }
  // What is on the disk outlives a power failure.
  Status Sync() const { return fdatasync(file_) == 0 ? Status::OK() : Failed(); }

 private:
  Status Failed() const {
    return Status::IOError("failed to write '", path_, "': ", std::strerror(errno));
  }

  const std::string path_;
  const int file_;
};

// Everything below `top`, by one request for each thousand objects. Folders end with a slash.
Status List(arrow::fs::FileSystem* files, const std::string& top, CloudReply* reply) {
  arrow::fs::FileSelector selector;
  selector.base_dir = top;
  selector.recursive = true;
  ARROW_ASSIGN_OR_RAISE(const std::vector<FileInfo> found, files->GetFileInfo(selector));
  for (const FileInfo& info : found) {
    CloudObject object;
    object.path = info.path().substr(top.size() + 1);
    if (info.type() == FileType::Directory) {
      object.path += "/";
      reply->objects.push_back(std::move(object));
      continue;
    }
    object.size = static_cast<uint64_t>(std::max<int64_t>(0, info.size()));
    object.mtime_ns = info.mtime().time_since_epoch().count();
    reply->objects.push_back(std::move(object));
  }
  return Status::OK();
}

Result<CloudObject> Describe(arrow::fs::FileSystem* files, const std::string& key,
                             const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto file, files->OpenInputFile(key));
  CloudObject object;
  object.path = path;
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  object.size = static_cast<uint64_t>(size);
  ARROW_ASSIGN_OR_RAISE(const auto metadata, file->ReadMetadata());
  if (metadata != nullptr) object.tag = metadata->Get("ETag").ValueOr("");
  if (object.tag.empty()) return Status::IOError("the store gives '", key, "' no ETag");
  return object;
}

// Reads ranges one after the other until there are none left, or one fails.
class RangeReader {
 public:
  RangeReader(arrow::io::RandomAccessFile* file, int64_t size, const Target& target,
              const std::function<void()>& progress)
      : file_(*file), size_(size), target_(target), progress_(progress) {}

  Status ReadAll() {
    const int64_t ranges = (size_ + kRange - 1) / kRange;
    std::vector<std::thread> helpers;
    for (int64_t i = 1; i < std::min(ranges, kMostRangesOfAFile); ++i) {
      helpers.emplace_back([this] { Work(); });
    }
    Work();
    for (std::thread& helper : helpers) helper.join();
    return status_;
  }

 private:
  void Work() {
    for (int64_t at = next_.fetch_add(kRange); at < size_; at = next_.fetch_add(kRange)) {
      FreeRanges().acquire();
      const Status read = ReadOne(at, std::min(kRange, size_ - at));
      FreeRanges().release();
      const std::lock_guard<std::mutex> lock(mu_);
      if (!read.ok()) {
        if (status_.ok()) status_ = read;
        next_ = size_;
      }
      progress_();
    }
  }

  Status ReadOne(int64_t at, int64_t size) {
    ARROW_ASSIGN_OR_RAISE(const auto buffer, file_.ReadAt(at, size));
    if (buffer->size() != size) {
      return Status::IOError("the store sent ", buffer->size(), " bytes of the ", size,
                             " at position ", at);
    }
    return target_.Write(buffer->data(), size, at);
  }

  arrow::io::RandomAccessFile& file_;
  const int64_t size_;
  const Target& target_;
  const std::function<void()>& progress_;
  std::atomic<int64_t> next_{0};
  std::mutex mu_;
  Status status_;  // guarded by mu_; the first failure
};

Status Fetch(arrow::fs::FileSystem* files, const std::string& key, const CloudRequest& request,
             const std::function<void()>& progress) {
  const Target target(request.target);
  ARROW_RETURN_NOT_OK(target.status());
  FileInfo info(key, FileType::File);
  info.set_size(static_cast<int64_t>(request.object.size));
  ARROW_ASSIGN_OR_RAISE(const auto file, files->OpenInputFile(info));
  ARROW_RETURN_NOT_OK(RangeReader(file.get(), info.size(), target, progress).ReadAll());
  ARROW_RETURN_NOT_OK(target.Sync());
  // The ranges may come from two contents if the object was replaced meanwhile.
  ARROW_ASSIGN_OR_RAISE(const CloudObject now, Describe(files, key, request.object.path));
  if (now.tag != request.object.tag || now.size != request.object.size) {
    return Status::IOError("'", key, "' was replaced while it was copied");
  }
  return Status::OK();
}

Status Perform(arrow::fs::FileSystem* files, const S3Place& place, const CloudRequest& request,
               const std::function<void()>& progress, CloudReply* reply) {
  const std::string key = place.KeyOf(request.object.path);
  switch (request.kind) {
    case CloudRequest::Kind::kList:
      return List(files, key, reply);
    case CloudRequest::Kind::kStat: {
      ARROW_ASSIGN_OR_RAISE(CloudObject object, Describe(files, key, request.object.path));
      reply->objects.push_back(std::move(object));
      return Status::OK();
    }
    case CloudRequest::Kind::kFetch:
      return Fetch(files, key, request, progress);
  }
  return Status::Invalid("unknown request");
}

bool IsMissing(const Status& status) {
  const std::string& text = status.message();
  return text.find("does not exist") != std::string::npos ||
         text.find("not found") != std::string::npos || text.find("NO_SUCH") != std::string::npos;
}

}  // namespace

Result<std::shared_ptr<const S3Store::Client>> S3Store::MakeClient(
    const std::string& repository) const {
  const Outcome<S3Place> place = ParseS3Url(repository);
  if (!place.ok()) return Status::Invalid(place.error);
  const Outcome<S3Credentials> credentials = FindCredentials(environment_, repository);
  if (!credentials.ok()) return Status::Invalid(credentials.error);
  const S3Credentials& found = credentials.value;
  arrow::fs::S3Options options;
  if (!found.key_id.empty() && !found.secret_key.empty()) {
    options.ConfigureAccessKey(found.key_id, found.secret_key, found.session_token);
  } else {
    options.ConfigureDefaultCredentials();  // among them AWS_PROFILE
  }
  options.region = found.region;
  options.scheme = place.value.scheme;
  options.endpoint_override = place.value.endpoint;
  // A server of one's own has no regions, and asking for one takes a request.
  if (options.region.empty() && !place.value.endpoint.empty()) options.region = "us-east-1";
  options.connect_timeout = kConnectSeconds;
  options.retry_strategy = arrow::fs::S3RetryStrategy::GetAwsStandardRetryStrategy(kAttempts);
  auto client = std::make_shared<Client>();
  client->place = place.value;
  client->credentials = found;
  ARROW_ASSIGN_OR_RAISE(client->files, arrow::fs::S3FileSystem::Make(options));
  return client;
}

Result<std::shared_ptr<const S3Store::Client>> S3Store::ClientOf(const std::string& repository) {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    const auto kept = clients_.find(repository);
    if (kept != clients_.end()) return kept->second;
  }
  ARROW_ASSIGN_OR_RAISE(auto client, MakeClient(repository));
  const std::lock_guard<std::mutex> lock(mu_);
  return clients_.emplace(repository, std::move(client)).first->second;
}

CloudReply S3Store::Answer(const CloudRequest& request, const std::function<void()>& progress) {
  CloudReply reply;
  const auto refuse = [&reply](const Status& status) {
    reply.objects.clear();
    reply.error = status.message();
    reply.not_found = IsMissing(status);
    return reply;
  };
  const auto client = ClientOf(request.repository);
  if (!client.ok()) return refuse(client.status());
  const Status first = Perform((*client)->files.get(), (*client)->place, request, progress, &reply);
  if (first.ok()) return reply;
  const auto renewed = MakeClient(request.repository);
  const bool others = renewed.ok() && !((*renewed)->credentials == (*client)->credentials);
  if (!others) return refuse(first);
  {
    const std::lock_guard<std::mutex> lock(mu_);
    clients_[request.repository] = *renewed;
  }
  reply.objects.clear();
  const Status second =
      Perform((*renewed)->files.get(), (*renewed)->place, request, progress, &reply);
  return second.ok() ? reply : refuse(second);
}

}  // namespace nereid_cloud
