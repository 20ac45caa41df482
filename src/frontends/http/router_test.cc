#include "frontends/http/router.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

struct Case {
  const char* path;
  Endpoint endpoint;
  const char* model = "";
  const char* version = "";
  const char* region = "";
  const char* repository = "";
};

TEST(RouterTest, KnowsEveryRoute) {
  const Case cases[] = {
      {"/v2", Endpoint::kServerMetadata},
      {"/v2/health/live", Endpoint::kServerLive},
      {"/v2/health/ready", Endpoint::kServerReady},
      {"/v2/models/stats", Endpoint::kAllStatistics},
      {"/v2/models/stats/stats", Endpoint::kModelStatistics, "stats"},
      {"/v2/models/m", Endpoint::kModelMetadata, "m"},
      {"/v2/models/m/versions/12", Endpoint::kModelMetadata, "m", "12"},
      {"/v2/models/m/ready", Endpoint::kModelReady, "m"},
      {"/v2/models/m/versions/3/ready", Endpoint::kModelReady, "m", "3"},
      {"/v2/models/m/infer", Endpoint::kInfer, "m"},
      {"/v2/models/m/versions/1/infer", Endpoint::kInfer, "m", "1"},
      {"/v2/models/m/generate", Endpoint::kGenerate, "m"},
      {"/v2/models/m/versions/1/generate_stream", Endpoint::kGenerateStream, "m", "1"},
      {"/v2/models/m/config", Endpoint::kModelConfig, "m"},
      {"/v2/models/m/versions/2/stats", Endpoint::kModelStatistics, "m", "2"},
      {"/v2/models/m/trace/setting", Endpoint::kModelTraceSetting, "m"},
      {"/v2/models/versions/versions/1", Endpoint::kModelMetadata, "versions", "1"},
      {"/v2/models/a%20b%2Fc%zz%4/infer", Endpoint::kInfer, "a b/c%zz%4"},
      {"/v2/trace/setting", Endpoint::kTraceSetting},
      {"/v2/logging", Endpoint::kLogging},
      {"/v2/systemsharedmemory/status", Endpoint::kSystemSharedMemoryStatus},
      {"/v2/systemsharedmemory/region/r/status", Endpoint::kSystemSharedMemoryStatus, "", "", "r"},
      {"/v2/systemsharedmemory/region/r/register", Endpoint::kSystemSharedMemoryRegister, "", "",
       "r"},
      {"/v2/systemsharedmemory/unregister", Endpoint::kSystemSharedMemoryUnregister},
      {"/v2/cudasharedmemory/region/%72/status", Endpoint::kCudaSharedMemoryStatus, "", "", "r"},
      {"/v2/cudasharedmemory/register", Endpoint::kCudaSharedMemoryRegister},
      {"/v2/cudasharedmemory/unregister", Endpoint::kCudaSharedMemoryUnregister},
      {"/v2/repository/index", Endpoint::kRepositoryIndex},
      {"/v2/repository/n/index", Endpoint::kRepositoryIndex, "", "", "", "n"},
      {"/v2/repository/models/m/load", Endpoint::kModelLoad, "m"},
      {"/v2/repository/n/models/m/unload", Endpoint::kModelUnload, "m", "", "", "n"},
      {"/v2/repository/models/models/m/load", Endpoint::kModelLoad, "m", "", "", "models"},
  };
  for (const Case& c : cases) {
    const Route route = ParseRoute(c.path);
    EXPECT_EQ(route.endpoint, c.endpoint) << c.path;
    EXPECT_EQ(route.model, c.model) << c.path;
    EXPECT_EQ(route.version, c.version) << c.path;
    EXPECT_EQ(route.region, c.region) << c.path;
    EXPECT_EQ(route.repository, c.repository) << c.path;
  }
}

TEST(RouterTest, MatchesWholePathsOnly) {
  for (const char* path : {"",
                           "/",
                           "/v2/",
                           "/v1",
                           "/v2x",
                           "/v2/health",
                           "/v2/health/live/",
                           "/v2/health/started",
                           "/v2/models",
                           "/v2/models/",
                           "/v2/models//ready",
                           "/v2/models/m/",
                           "/v2/models/m/readyx",
                           "/v2/models/m/versions",
                           "/v2/models/m/versions/",
                           "/v2/models/m/versions/x/ready",
                           "/v2/models/m/versions/1x",
                           "/v2/models/m/versions/-1",
                           "/v2/models/m/n/ready",
                           "/v2/models/m/versions/1/trace/setting",
                           "/v2/models/m/infer/",
                           "/v2/repository",
                           "/v2/repository/",
                           "/v2/repositoryx/index",
                           "/v2/repository//index",
                           "/v2/repository/a/b/index",
                           "/v2/repository/models//load",
                           "/v2/repository/models/m/loads",
                           "/v2/systemsharedmemory",
                           "/v2/systemsharedmemory/region//status",
                           "/v2/systemsharedmemory/region/r",
                           "/v2/cudasharedmemory/region/r/s/status",
                           "/metrics"}) {
    EXPECT_EQ(ParseRoute(path).endpoint, Endpoint::kNotFound) << path;
  }
}

TEST(RouterTest, KnowsTheMethods) {
  EXPECT_STREQ(AllowedMethods(Endpoint::kServerLive), "GET, HEAD");
  EXPECT_STREQ(AllowedMethods(Endpoint::kInfer), "POST");
  EXPECT_STREQ(AllowedMethods(Endpoint::kLogging), "GET, HEAD, POST");
  EXPECT_TRUE(IsMethodAllowed(Endpoint::kServerLive, HttpMethod::kHead));
  EXPECT_FALSE(IsMethodAllowed(Endpoint::kServerLive, HttpMethod::kPost));
  EXPECT_TRUE(IsMethodAllowed(Endpoint::kRepositoryIndex, HttpMethod::kPost));
  EXPECT_FALSE(IsMethodAllowed(Endpoint::kRepositoryIndex, HttpMethod::kGet));
  EXPECT_FALSE(IsMethodAllowed(Endpoint::kLogging, HttpMethod::kOther));
}

}  // namespace
}  // namespace nereid
