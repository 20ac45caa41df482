// SPDX-License-Identifier: Apache-2.0
#include "frontends/grpc/reports_to_proto.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <utility>
#include <vector>

#include "base/outside_text.h"

namespace nereid {
namespace {

void Fill(const TensorMetadata& tensor, inference::ModelMetadataResponse::TensorMetadata* message) {
  message->set_name(tensor.name);
  message->set_datatype(DataTypeName(tensor.data_type));
  for (const int64_t dim : tensor.shape) message->add_shape(dim);
}

void Fill(const StatDuration& duration, inference::StatisticDuration* message) {
  message->set_count(duration.count);
  message->set_ns(duration.ns);
}

void Fill(const StatisticsSnapshot& s, inference::InferStatistics* message) {
  Fill(s.success, message->mutable_success());
  Fill(s.fail, message->mutable_fail());
  Fill(s.queue, message->mutable_queue());
  Fill(s.compute_input, message->mutable_compute_input());
  Fill(s.compute_infer, message->mutable_compute_infer());
  Fill(s.compute_output, message->mutable_compute_output());
  Fill(s.cache_hit, message->mutable_cache_hit());
  Fill(s.cache_miss, message->mutable_cache_miss());
}

void Fill(const ResponseStatistics& s, inference::InferResponseStatistics* message) {
  Fill(s.compute_infer, message->mutable_compute_infer());
  Fill(s.compute_output, message->mutable_compute_output());
  Fill(s.success, message->mutable_success());
  Fill(s.fail, message->mutable_fail());
  Fill(s.empty_response, message->mutable_empty_response());
  Fill(s.cancel, message->mutable_cancel());
}

void Fill(const ModelStatisticsReport& report, inference::ModelStatistics* message) {
  const StatisticsSnapshot& s = report.statistics;
  message->set_name(report.name);
  message->set_version(absl::StrCat(report.version));
  message->set_last_inference(s.last_inference_ms);
  message->set_inference_count(s.inference_count);
  message->set_execution_count(s.execution_count);
  Fill(s, message->mutable_inference_stats());
  for (const auto& [size, batch] : s.batches) {
    inference::InferBatchStatistics* const one = message->add_batch_stats();
    one->set_batch_size(size);
    Fill(batch.compute_input, one->mutable_compute_input());
    Fill(batch.compute_infer, one->mutable_compute_infer());
    Fill(batch.compute_output, one->mutable_compute_output());
  }
  for (const MemoryUsage& usage : report.memory_usage) {
    inference::MemoryUsage* const one = message->add_memory_usage();
    one->set_type(usage.type);
    one->set_id(usage.id);
    one->set_byte_size(usage.byte_size);
  }
  for (const auto& [index, response] : s.responses) {
    Fill(response, &(*message->mutable_response_stats())[absl::StrCat(index)]);
  }
}

// As MakeUtf8, for one field of `message`.
void MakeFieldUtf8(const google::protobuf::FieldDescriptor* field,
                   google::protobuf::Message* message) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection* const reflection = message->GetReflection();
  const bool repeated = field->is_repeated();
  const int count = repeated ? reflection->FieldSize(*message, field) : 1;
  for (int i = 0; i < count; ++i) {
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      MakeUtf8(repeated ? reflection->MutableRepeatedMessage(message, field, i)
                        : reflection->MutableMessage(message, field));
    } else if (field->type() == FieldDescriptor::TYPE_STRING) {
      std::string text = repeated ? reflection->GetRepeatedString(*message, field, i)
                                  : reflection->GetString(*message, field);
      if (IsValidUtf8(text)) continue;
      std::string memory;
      text = std::string(ToUtf8(text, &memory));
      if (repeated) {
        reflection->SetRepeatedString(message, field, i, std::move(text));
      } else {
        reflection->SetString(message, field, std::move(text));
      }
    }
  }
}

}  // namespace

void MakeUtf8(google::protobuf::Message* message) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  message->GetReflection()->ListFields(*message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) MakeFieldUtf8(field, message);
}

void ToProto(const ServerMetadata& metadata, inference::ServerMetadataResponse* response) {
  response->set_name(metadata.name);
  response->set_version(metadata.version);
  for (const std::string& extension : metadata.extensions) response->add_extensions(extension);
}

void ToProto(const ModelMetadata& metadata, inference::ModelMetadataResponse* response) {
  response->set_name(metadata.name);
  for (const int64_t version : metadata.versions) response->add_versions(absl::StrCat(version));
  response->set_platform(metadata.platform);
  for (const TensorMetadata& input : metadata.inputs) Fill(input, response->add_inputs());
  for (const TensorMetadata& output : metadata.outputs) Fill(output, response->add_outputs());
}

void ToProto(const std::vector<ModelStatisticsReport>& reports,
             inference::ModelStatisticsResponse* response) {
  for (const ModelStatisticsReport& report : reports) Fill(report, response->add_model_stats());
}

void ToProto(const std::vector<IndexEntry>& index, inference::RepositoryIndexResponse* response) {
  for (const IndexEntry& entry : index) {
    inference::RepositoryIndexResponse::ModelIndex* const model = response->add_models();
    model->set_name(entry.name);
    if (entry.version >= 0) model->set_version(absl::StrCat(entry.version));
    model->set_state(entry.state);
    model->set_reason(entry.reason);
  }
}

void ToProto(const std::vector<SharedMemoryRegion>& regions,
             inference::SystemSharedMemoryStatusResponse* response) {
  for (const SharedMemoryRegion& region : regions) {
    auto& status = (*response->mutable_regions())[region.name];
    status.set_name(region.name);
    status.set_key(region.key);
    status.set_offset(region.offset);
    status.set_byte_size(region.byte_size);
  }
}

void ToProto(const std::vector<CudaMemoryRegion>& regions,
             inference::CudaSharedMemoryStatusResponse* response) {
  for (const CudaMemoryRegion& region : regions) {
    auto& status = (*response->mutable_regions())[region.name];
    status.set_name(region.name);
    status.set_device_id(static_cast<uint64_t>(region.device_id));
    status.set_byte_size(region.byte_size);
  }
}

}  // namespace nereid
