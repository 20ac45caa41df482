#include "frontends/grpc/infer_service.h"

namespace nereid {
namespace {

grpc_compression_level LevelOf(GrpcCompression compression) {
  switch (compression) {
    case GrpcCompression::kNone:
      return GRPC_COMPRESS_LEVEL_NONE;
    case GrpcCompression::kLow:
      return GRPC_COMPRESS_LEVEL_LOW;
    case GrpcCompression::kMedium:
      return GRPC_COMPRESS_LEVEL_MED;
    case GrpcCompression::kHigh:
      return GRPC_COMPRESS_LEVEL_HIGH;
  }
  return GRPC_COMPRESS_LEVEL_NONE;
}

}  // namespace

void InferEnvironment::Prepare(grpc::ServerContext* context) const {
  if (compression != GrpcCompression::kNone) context->set_compression_level(LevelOf(compression));
}

}  // namespace nereid
