// SPDX-License-Identifier: Apache-2.0
#include "plain/cloud_messages.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace nereid {
namespace {

CloudRequest SomeRequest() {
  CloudRequest request;
  request.kind = CloudRequest::Kind::kFetch;
  request.repository = "s3://bucket/models";
  request.object = {"m/1/model.onnx", 5'000'000'000, -1, "\"tag\""};
  request.target = "folder/file";
  return request;
}

TEST(CloudMessagesTest, ARequestArrivesAsItWas) {
  const CloudRequest sent = SomeRequest();
  const auto got = CloudRequest::Unpack(sent.Pack());
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->kind, sent.kind);
  EXPECT_EQ(got->repository, sent.repository);
  EXPECT_EQ(got->object, sent.object);
  EXPECT_EQ(got->target, sent.target);
}

TEST(CloudMessagesTest, AReplyArrivesAsItWas) {
  const CloudReply sent{"gone", true, {{"a", 1, 2, ""}, {"b/c", 0, 3, "t"}}};
  const auto got = CloudReply::Unpack(sent.Pack());
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->error, sent.error);
  EXPECT_TRUE(got->not_found);
  EXPECT_EQ(got->objects, sent.objects);
}

TEST(CloudMessagesTest, WhatIsCutOrTooLongIsNoMessage) {
  const std::string request = SomeRequest().Pack();
  const std::string reply = CloudReply{"", false, {{"a", 1, 2, "t"}}}.Pack();
  for (size_t size = 0; size < request.size(); ++size) {
    EXPECT_FALSE(CloudRequest::Unpack(request.substr(0, size)).has_value()) << size;
  }
  for (size_t size = 0; size < reply.size(); ++size) {
    EXPECT_FALSE(CloudReply::Unpack(reply.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(CloudRequest::Unpack(request + "x").has_value());
  EXPECT_FALSE(CloudReply::Unpack(reply + "x").has_value());
}

TEST(CloudMessagesTest, AnEndOfAPairGoesOverAnotherSocket) {
  int control[2];
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, control), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  ASSERT_TRUE(SendDescriptor(control[0], pair[1]));
  close(pair[1]);
  const int received = ReceiveDescriptor(control[1]);
  ASSERT_GE(received, 0);
  EXPECT_TRUE(SendCloudFrame(received, "reply"));
  EXPECT_TRUE(SendCloudFrame(received, ""));
  close(received);
  std::string frame;
  EXPECT_TRUE(ReceiveCloudFrame(pair[0], &frame));
  EXPECT_EQ(frame, "reply");
  EXPECT_TRUE(ReceiveCloudFrame(pair[0], &frame));
  EXPECT_EQ(frame, "");
  EXPECT_FALSE(ReceiveCloudFrame(pair[0], &frame)) << "the peer has gone";
  EXPECT_FALSE(SendCloudFrame(pair[0], "to nobody"));
  close(control[0]);
  EXPECT_EQ(ReceiveDescriptor(control[1]), -1);
  close(control[1]);
  close(pair[0]);
}

}  // namespace
}  // namespace nereid
