// SPDX-License-Identifier: Apache-2.0
// Converts the server's reports to messages. Pure functions, thread-safe. Response arguments must
// be fresh.
#ifndef NEREID_FRONTENDS_GRPC_REPORTS_TO_PROTO_H_
#define NEREID_FRONTENDS_GRPC_REPORTS_TO_PROTO_H_

#include <google/protobuf/message.h>

#include <vector>

#include "frontends/shared_memory/shared_memory_registry.h"
#include "grpc_service.pb.h"
#include "server/reports.h"

namespace nereid {

void ToProto(const ServerMetadata& metadata, inference::ServerMetadataResponse* response);
void ToProto(const ModelMetadata& metadata, inference::ModelMetadataResponse* response);
void ToProto(const std::vector<ModelStatisticsReport>& reports,
             inference::ModelStatisticsResponse* response);
void ToProto(const std::vector<IndexEntry>& index, inference::RepositoryIndexResponse* response);

void ToProto(const std::vector<SharedMemoryRegion>& regions,
             inference::SystemSharedMemoryStatusResponse* response);
void ToProto(const std::vector<CudaMemoryRegion>& regions,
             inference::CudaSharedMemoryStatusResponse* response);

// Replaces in all strings of `message` what is not UTF-8, of which a client could not read a single
// field of the answer: names and reasons may come from folders, backends and REST.
void MakeUtf8(google::protobuf::Message* message);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_GRPC_REPORTS_TO_PROTO_H_
