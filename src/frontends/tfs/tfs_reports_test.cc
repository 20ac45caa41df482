// SPDX-License-Identifier: Apache-2.0
#include "frontends/tfs/tfs_reports.h"

#include <gtest/gtest.h>

#include "frontends/tfs/tfs_testing.h"

namespace nereid {
namespace {

const std::vector<IndexEntry>& Index() {
  static const auto* const index = new std::vector<IndexEntry>{
      {"m", 1, "UNAVAILABLE", "unloaded"},
      {"m", 2, "UNAVAILABLE", "no file"},
      {"m", 10, "READY", ""},
      {"n", 1, "LOADING", ""},
      {"never", -1, "", ""},
  };
  return *index;
}

TEST(TfsReportsTest, StatusOfAllVersionsBeginsWithTheHighest) {
  EXPECT_EQ(
      TfsStatusJson(Index(), "m", std::nullopt).value(),
      R"({"model_version_status":[)"
      R"({"version":"10","state":"AVAILABLE","status":{"error_code":"OK","error_message":""}},)"
      R"({"version":"2","state":"END","status":{"error_code":"UNKNOWN","error_message":"no file"}},)"
      R"({"version":"1","state":"END","status":{"error_code":"OK","error_message":""}}]})");
}

TEST(TfsReportsTest, StatusOfOneVersion) {
  EXPECT_EQ(TfsStatusJson(Index(), "n", 1).value(),
            R"({"model_version_status":[{"version":"1","state":"LOADING",)"
            R"("status":{"error_code":"OK","error_message":""}}]})");
}

TEST(TfsReportsTest, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(TfsStatusJson(Index(), "x", std::nullopt).status(),
            absl::NotFoundError("Could not find any versions of model x"));
  EXPECT_EQ(TfsStatusJson(Index(), "never", std::nullopt).status(),
            absl::NotFoundError("Could not find any versions of model never"));
  EXPECT_EQ(TfsStatusJson(Index(), "m", 3).status(),
            absl::NotFoundError("Could not find version 3 of model m"));
  EXPECT_EQ(TfsNotFound("half", std::nullopt),
            absl::NotFoundError("Servable not found for request: Latest(half)"));
  EXPECT_EQ(TfsNotFound("half", 5),
            absl::NotFoundError("Servable not found for request: Specific(half, 5)"));
}

TEST(TfsReportsTest, MetadataHasTheSignatures) {
  CompiledModel config = tfs_testing::MakeConfig(
      {{"A", DataType::kBytes, {kVariableDim, 4}}},
      {{"Y", DataType::kFp32, {1}, Shape{}}, {"Z", DataType::kInt64, {1}}}, 8);
  TfsSignature& signature = config.tfs.signatures.at(kTfsDefaultSignature);
  signature.inputs.front().key = "a";
  config.tfs.signatures.erase("classify");
  config.tfs.signatures.erase("regress");
  EXPECT_EQ(TfsMetadataJson(config),
            R"({"model_spec":{"name":"m","signature_name":"","version":"3"},)"
            R"("metadata":{"signature_def":{"signature_def":{"serving_default":{)"
            R"("inputs":{"a":{"dtype":"DT_STRING","tensor_shape":{"dim":[)"
            R"({"size":"-1","name":""},{"size":"-1","name":""},{"size":"4","name":""}],)"
            R"("unknown_rank":false},"name":"A"}},)"
            R"("outputs":{"Y":{"dtype":"DT_FLOAT","tensor_shape":{"dim":[{"size":"-1","name":""}],)"
            R"("unknown_rank":false},"name":"Y"},)"
            R"("Z":{"dtype":"DT_INT64","tensor_shape":{"dim":[{"size":"-1","name":""},)"
            R"({"size":"1","name":""}],"unknown_rank":false},"name":"Z"}},)"
            R"("method_name":"tensorflow/serving/predict"}}}}})");
}

}  // namespace
}  // namespace nereid
