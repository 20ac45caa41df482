// SPDX-License-Identifier: Apache-2.0
// S3Store: reads repositories in S3, by Apache Arrow. It keeps one client for each repository. When
// a request fails, it looks at the credentials again, and tries once more if they are others by
// now. Thread-safe. All methods block on the network.
#ifndef NEREID_APPS_CLOUD_S3_STORE_H_
#define NEREID_APPS_CLOUD_S3_STORE_H_

#include <arrow/filesystem/s3fs.h>
#include <arrow/result.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cloud/s3_place.h"
#include "plain/cloud_messages.h"

namespace nereid_cloud {

class S3Store {
 public:
  explicit S3Store(Environment environment) : environment_(std::move(environment)) {}

  // Does what the request says. `progress` is called now and then while it takes long, by any
  // thread, one call at a time.
  nereid::CloudReply Answer(const nereid::CloudRequest& request,
                            const std::function<void()>& progress);

 private:
  struct Client {
    S3Place place;
    S3Credentials credentials;
    std::shared_ptr<arrow::fs::FileSystem> files;
  };
  using Clients = std::map<std::string, std::shared_ptr<const Client>>;

  // With the credentials of now.
  arrow::Result<std::shared_ptr<const Client>> MakeClient(const std::string& repository) const;
  // The client kept for the repository, or a new one.
  arrow::Result<std::shared_ptr<const Client>> ClientOf(const std::string& repository);

  const Environment environment_;
  std::mutex mu_;
  Clients clients_;  // guarded by mu_
};

}  // namespace nereid_cloud

#endif  // NEREID_APPS_CLOUD_S3_STORE_H_
