// SPDX-License-Identifier: Apache-2.0
#include "frontends/http/openapi_schemas.h"

namespace nereid {

// JSON Schema 2020-12, as OpenAPI 3.1 has it. Answers have no members but those that are named;
// what a request may have besides is ignored.
const char kOpenApiSchemas[] = R"json({
"Error": {
  "type": "object", "required": ["error"], "additionalProperties": true,
  "properties": {"error": {"type": "string", "description": "One sentence that says what is wrong."}}
},
"OpenAiError": {
  "type": "object", "required": ["error"], "additionalProperties": false,
  "properties": {"error": {
    "type": "object", "required": ["message", "type", "param", "code"],
    "properties": {
      "message": {"type": "string", "description": "One sentence that says what is wrong."},
      "type": {"type": "string"},
      "param": {"type": ["string", "null"], "description": "The field that is wrong."},
      "code": {"type": ["string", "null"]}}}}
},
"BinaryTensors": {
  "type": "string", "contentMediaType": "application/octet-stream",
  "description": "A JSON object as in application/json, and then the bytes of the tensors that have binary_data_size, in their order. The header Inference-Header-Content-Length is the length of the JSON."
},
"Events": {
  "type": "string", "contentMediaType": "text/event-stream",
  "description": "A line `data: ` with a JSON object for each response, and an empty line after it."
},
"Page": {
  "type": "string", "contentMediaType": "text/html"
},
"Live": {
  "type": "object", "required": ["live"], "additionalProperties": false,
  "properties": {"live": {"type": "boolean"}, "error": {"type": "string"}}
},
"Ready": {
  "type": "object", "required": ["ready"], "additionalProperties": false,
  "properties": {"ready": {"type": "boolean"}, "error": {"type": "string"}}
},
"ModelReady": {
  "type": "object", "required": ["name", "ready"], "additionalProperties": false,
  "properties": {"name": {"type": "string"}, "ready": {"type": "boolean"},
                 "error": {"type": "string"}}
},
"ServerMetadata": {
  "type": "object", "required": ["name", "version", "extensions"], "additionalProperties": false,
  "properties": {"name": {"type": "string"}, "version": {"type": "string"},
                 "extensions": {"type": "array", "items": {"type": "string"}}}
},
"TensorMetadata": {
  "type": "object", "required": ["name", "datatype", "shape"], "additionalProperties": false,
  "properties": {"name": {"type": "string"}, "datatype": {"$ref": "#/components/schemas/DataType"},
                 "shape": {"type": "array", "items": {"type": "integer", "minimum": -1},
                           "description": "-1: any size."}}
},
"ModelMetadata": {
  "type": "object", "required": ["name", "versions", "platform", "inputs", "outputs"],
  "additionalProperties": false,
  "properties": {
    "name": {"type": "string"},
    "versions": {"type": "array", "items": {"type": "string"}},
    "platform": {"type": "string"},
    "inputs": {"type": "array", "items": {"$ref": "#/components/schemas/TensorMetadata"}},
    "outputs": {"type": "array", "items": {"$ref": "#/components/schemas/TensorMetadata"}}}
},
"ModelConfig": {
  "type": "object", "description": "The protobuf message ModelConfig as JSON.",
  "required": ["name"], "properties": {"name": {"type": "string"}}
},
"DataType": {
  "enum": ["BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
           "FP16", "BF16", "FP32", "FP64", "BYTES"]
},
"Parameters": {
  "type": "object", "description": "Parameters that the protocol does not name go to the model.",
  "additionalProperties": {"type": ["string", "integer", "boolean", "number"]}
},
"TensorData": {
  "type": "array",
  "description": "The elements in row-major order, flat or nested.",
  "items": {"anyOf": [{"type": ["number", "string", "boolean"]},
                      {"$ref": "#/components/schemas/TensorData"}]}
},
"InferRequest": {
  "type": "object", "required": ["inputs"],
  "properties": {
    "id": {"type": "string"},
    "parameters": {
      "allOf": [{"$ref": "#/components/schemas/Parameters"}],
      "properties": {
        "sequence_id": {"type": ["integer", "string"]}, "sequence_start": {"type": "boolean"},
        "sequence_end": {"type": "boolean"}, "priority": {"type": "integer", "minimum": 0},
        "timeout": {"type": "integer", "minimum": 0, "description": "In microseconds."},
        "binary_data_output": {"type": "boolean"},
        "json_non_finite": {"enum": ["literal", "null", "string", "error"]}}},
    "inputs": {"type": "array", "items": {
      "type": "object", "required": ["name", "shape", "datatype"],
      "properties": {
        "name": {"type": "string"},
        "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "datatype": {"$ref": "#/components/schemas/DataType"},
        "parameters": {"type": "object", "properties": {
          "binary_data_size": {"type": "integer", "minimum": 0},
          "shared_memory_region": {"type": "string"},
          "shared_memory_byte_size": {"type": "integer", "minimum": 0},
          "shared_memory_offset": {"type": "integer", "minimum": 0}}},
        "data": {"$ref": "#/components/schemas/TensorData"}}}},
    "outputs": {"type": "array", "items": {
      "type": "object", "required": ["name"],
      "properties": {
        "name": {"type": "string"},
        "parameters": {"type": "object", "properties": {
          "classification": {"type": "integer", "minimum": 0},
          "binary_data": {"type": "boolean"},
          "shared_memory_region": {"type": "string"},
          "shared_memory_byte_size": {"type": "integer", "minimum": 0},
          "shared_memory_offset": {"type": "integer", "minimum": 0}}}}}}}
},
"InferResponse": {
  "type": "object", "required": ["model_name", "model_version", "outputs"],
  "additionalProperties": false,
  "properties": {
    "id": {"type": "string"}, "model_name": {"type": "string"},
    "model_version": {"type": "string"},
    "parameters": {"$ref": "#/components/schemas/Parameters"},
    "outputs": {"type": "array", "items": {
      "type": "object", "required": ["name", "datatype", "shape"], "additionalProperties": false,
      "properties": {
        "name": {"type": "string"}, "datatype": {"$ref": "#/components/schemas/DataType"},
        "shape": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "parameters": {"type": "object"},
        "data": {"$ref": "#/components/schemas/TensorData"}}}}}
},
"GenerateRequest": {
  "type": "object",
  "description": "A member that has the name of an input is its tensor. The others, and those of 'parameters', go to the model.",
  "properties": {"id": {"type": "string"}, "parameters": {"type": "object"}}
},
"OpenAiModel": {
  "type": "object", "required": ["id", "object", "created", "owned_by"],
  "additionalProperties": false,
  "properties": {"id": {"type": "string"}, "object": {"const": "model"},
                 "created": {"type": "integer"}, "owned_by": {"type": "string"}}
},
"OpenAiModelList": {
  "type": "object", "required": ["object", "data"], "additionalProperties": false,
  "properties": {"object": {"const": "list"},
                 "data": {"type": "array", "items": {"$ref": "#/components/schemas/OpenAiModel"}}}
},
"OpenAiCompletionRequest": {
  "type": "object", "required": ["model", "prompt"],
  "description": "As OpenAI's. A field that the server or the model does not take is refused.",
  "properties": {
    "model": {"type": "string", "minLength": 1},
    "prompt": {"type": ["string", "array"]},
    "stream": {"type": ["boolean", "null"]}}
},
"OpenAiChatRequest": {
  "type": "object", "required": ["model", "messages"],
  "description": "As OpenAI's. A field that the server or the model does not take is refused.",
  "properties": {
    "model": {"type": "string", "minLength": 1},
    "messages": {"type": "array", "minItems": 1, "items": {"type": "object"}},
    "stream": {"type": ["boolean", "null"]}}
},
"OpenAiEmbeddingsRequest": {
  "type": "object", "required": ["model", "input"],
  "description": "As OpenAI's. A field that the server or the model does not take is refused.",
  "properties": {
    "model": {"type": "string", "minLength": 1},
    "input": {"type": ["string", "array"]},
    "encoding_format": {"enum": ["float", "base64", null]}}
},
"OpenAiUsage": {
  "type": ["object", "null"], "description": "null: the model does not count tokens.",
  "required": ["prompt_tokens", "total_tokens"], "additionalProperties": false,
  "properties": {"prompt_tokens": {"type": "integer"}, "completion_tokens": {"type": "integer"},
                 "total_tokens": {"type": "integer"}}
},
"OpenAiCompletion": {
  "type": "object", "required": ["id", "object", "created", "model", "choices", "usage"],
  "additionalProperties": false,
  "properties": {
    "id": {"type": "string"}, "object": {"const": "text_completion"},
    "created": {"type": "integer"}, "model": {"type": "string"},
    "choices": {"type": "array", "items": {
      "type": "object", "required": ["index", "text", "logprobs", "finish_reason"],
      "properties": {"index": {"type": "integer"}, "text": {"type": "string"},
                     "finish_reason": {"type": "string"}}}},
    "usage": {"$ref": "#/components/schemas/OpenAiUsage"}}
},
"OpenAiChatCompletion": {
  "type": "object", "required": ["id", "object", "created", "model", "choices", "usage"],
  "additionalProperties": false,
  "properties": {
    "id": {"type": "string"}, "object": {"const": "chat.completion"},
    "created": {"type": "integer"}, "model": {"type": "string"},
    "choices": {"type": "array", "items": {
      "type": "object", "required": ["index", "message", "logprobs", "finish_reason"],
      "properties": {"index": {"type": "integer"}, "message": {"type": "object"},
                     "finish_reason": {"type": "string"}}}},
    "usage": {"$ref": "#/components/schemas/OpenAiUsage"}}
},
"OpenAiEmbeddings": {
  "type": "object", "required": ["object", "data", "model", "usage"],
  "additionalProperties": false,
  "properties": {
    "object": {"const": "list"}, "model": {"type": "string"},
    "data": {"type": "array", "items": {
      "type": "object", "required": ["object", "index", "embedding"],
      "properties": {"object": {"const": "embedding"}, "index": {"type": "integer"},
                     "embedding": {"type": ["array", "string"]}}}},
    "usage": {"$ref": "#/components/schemas/OpenAiUsage"}}
},
"GenerateResponse": {
  "type": "object", "required": ["model_name", "model_version"],
  "description": "The outputs by name: a value, or a flat array.",
  "properties": {"id": {"type": "string"}, "model_name": {"type": "string"},
                 "model_version": {"type": "string"}}
},
"Duration": {
  "type": "object", "required": ["count", "ns"], "additionalProperties": false,
  "properties": {"count": {"type": "integer", "minimum": 0},
                 "ns": {"type": "integer", "minimum": 0}}
},
"Statistics": {
  "type": "object", "required": ["model_stats"], "additionalProperties": false,
  "properties": {"model_stats": {"type": "array", "items": {
    "type": "object", "additionalProperties": false,
    "required": ["name", "version", "last_inference", "inference_count", "execution_count",
                 "inference_stats", "response_stats", "batch_stats", "memory_usage"],
    "properties": {
      "name": {"type": "string"}, "version": {"type": "string"},
      "last_inference": {"type": "integer", "description": "Milliseconds since 1970."},
      "inference_count": {"type": "integer"}, "execution_count": {"type": "integer"},
      "inference_stats": {"type": "object",
                          "additionalProperties": {"$ref": "#/components/schemas/Duration"}},
      "response_stats": {"type": "object", "additionalProperties": {
        "type": "object", "additionalProperties": {"$ref": "#/components/schemas/Duration"}}},
      "batch_stats": {"type": "array", "items": {
        "type": "object", "required": ["batch_size"],
        "properties": {"batch_size": {"type": "integer"}}}},
      "memory_usage": {"type": "array", "items": {
        "type": "object", "required": ["type", "id", "byte_size"],
        "properties": {"type": {"enum": ["CPU", "CPU_PINNED", "GPU"]}, "id": {"type": "integer"},
                       "byte_size": {"type": "integer"}}}}}}}}
},
"IndexRequest": {
  "type": "object", "properties": {"ready": {"type": "boolean"}}
},
"RepositoryIndex": {
  "type": "array", "items": {
    "type": "object", "required": ["name"], "additionalProperties": false,
    "properties": {
      "name": {"type": "string"}, "version": {"type": "string"},
      "state": {"enum": ["UNKNOWN", "READY", "UNAVAILABLE", "LOADING", "UNLOADING"]},
      "reason": {"type": "string"}}}
},
"LoadRequest": {
  "type": "object", "properties": {"parameters": {
    "type": "object", "additionalProperties": {"type": "string"},
    "description": "'config': a configuration as JSON; 'file:PATH': a file of the model, base64."}}
},
"UnloadRequest": {
  "type": "object", "properties": {"parameters": {
    "type": "object", "properties": {"unload_dependents": {"type": "boolean"}}}}
},
"RegisterSystem": {
  "type": "object", "required": ["key", "byte_size"],
  "properties": {"key": {"type": "string"}, "offset": {"type": "integer", "minimum": 0},
                 "byte_size": {"type": "integer", "minimum": 0}}
},
"RegisterCuda": {
  "type": "object", "required": ["raw_handle", "device_id", "byte_size"],
  "properties": {
    "raw_handle": {"type": "object", "required": ["b64"],
                   "properties": {"b64": {"type": "string"}}},
    "device_id": {"type": "integer"}, "byte_size": {"type": "integer", "minimum": 0}}
},
"SystemRegions": {
  "type": "array", "items": {
    "type": "object", "required": ["name", "key", "offset", "byte_size"],
    "additionalProperties": false,
    "properties": {"name": {"type": "string"}, "key": {"type": "string"},
                   "offset": {"type": "integer"}, "byte_size": {"type": "integer"}}}
},
"CudaRegions": {
  "type": "array", "items": {
    "type": "object", "required": ["name", "device_id", "byte_size"],
    "additionalProperties": false,
    "properties": {"name": {"type": "string"}, "device_id": {"type": "integer"},
                   "byte_size": {"type": "integer"}}}
},
"TraceSettings": {
  "type": "object",
  "properties": {
    "trace_level": {"type": ["array", "null"], "items": {"enum": ["OFF", "TIMESTAMPS", "TENSORS"]}},
    "trace_rate": {"type": ["string", "null"]}, "trace_count": {"type": ["string", "null"]},
    "log_frequency": {"type": ["string", "null"]}}
},
"LogSettings": {
  "type": "object",
  "properties": {
    "log_file": {"type": ["string", "null"]}, "log_info": {"type": ["boolean", "null"]},
    "log_warning": {"type": ["boolean", "null"]}, "log_error": {"type": ["boolean", "null"]},
    "log_verbose_level": {"type": ["integer", "null"], "minimum": 0},
    "log_format": {"type": ["string", "null"]}}
},
"RecordedExecution": {
  "type": "object", "description": "One execution of a batch. Times are of the server's steady clock.",
  "required": ["instance", "number", "reason", "requests", "units", "fillers", "thread", "failed",
               "left_queue_ns", "start_ns", "end_ns", "members"],
  "additionalProperties": false,
  "properties": {
    "instance": {"type": "string"},
    "number": {"type": "integer", "minimum": 1, "description": "Counts the executions of the instance."},
    "reason": {"enum": ["full", "preferred_size", "delay_over", "idle_instance", "shape_change",
                        "target", "strategy", "end_of_turn", "sequence_slots", "not_batched"]},
    "requests": {"type": "integer", "minimum": 0}, "units": {"type": "integer", "minimum": 0},
    "fillers": {"type": "integer", "minimum": 0},
    "thread": {"enum": ["instance", "caller"]}, "failed": {"type": "boolean"},
    "staged_ns": {"type": "integer", "description": "Since then it waited for the rate limiter."},
    "left_queue_ns": {"type": "integer"}, "start_ns": {"type": "integer"},
    "end_ns": {"type": "integer"},
    "members": {"type": "array", "items": {"type": "string"}, "description": "Ids, as far as remembered."}}
},
"RecordedRequest": {
  "type": "object",
  "required": ["id", "model", "version", "outcome", "start_ns", "latency_ns", "phases_ns", "batch_size"],
  "additionalProperties": false,
  "properties": {
    "id": {"type": "string", "description": "The first 38 bytes, with three dots if there are more."},
    "model": {"type": "string"}, "version": {"type": "string"},
    "outcome": {"enum": ["ok", "error", "cancelled", "timed_out", "refused", "cache_hit"]},
    "start_ns": {"type": "integer"}, "latency_ns": {"type": "integer", "minimum": 0},
    "phases_ns": {
      "type": "object", "description": "Those that took time; they add up to the latency.",
      "propertyNames": {"enum": ["admission", "cache", "sequence_slot", "queue", "rate_limit",
                                 "dispatch", "compute_input", "compute_infer", "steps",
                                 "compute_output", "sending"]},
      "additionalProperties": {"type": "integer", "minimum": 1}},
    "batch_size": {"type": "integer", "minimum": 0}, "priority": {"type": "integer"},
    "sequence": {"type": "string"},
    "sequence_slot": {"type": "integer", "minimum": 0,
                      "description": "The slot of its sequence in the instance, from 0."},
    "instance": {"type": "string"},
    "batch": {"type": "integer", "minimum": 1}, "ensemble": {"type": "integer"},
    "step_of": {"type": "integer"}, "step": {"type": "integer"},
    "execution": {"$ref": "#/components/schemas/RecordedExecution"},
    "steps": {"type": "array", "items": {"$ref": "#/components/schemas/RecordedRequest"}}}
},
"Timeline": {
  "type": "object", "additionalProperties": false,
  "required": ["now_ns", "now_unix_ms", "model", "version", "recording", "instances", "executions",
               "requests"],
  "properties": {
    "now_ns": {"type": "integer"}, "now_unix_ms": {"type": "integer"},
    "model": {"type": "string"}, "version": {"type": "string"}, "recording": {"type": "boolean"},
    "instances": {"type": "array", "items": {"type": "string"}},
    "executions": {"type": "array", "items": {"$ref": "#/components/schemas/RecordedExecution"}},
    "requests": {"type": "array", "items": {"$ref": "#/components/schemas/RecordedRequest"}}}
},
"RecordedRequests": {
  "type": "object", "additionalProperties": false, "required": ["now_ns", "now_unix_ms", "requests"],
  "properties": {
    "now_ns": {"type": "integer"}, "now_unix_ms": {"type": "integer"},
    "requests": {"type": "array", "items": {"$ref": "#/components/schemas/RecordedRequest"}}}
},
"ModelOverview": {
  "type": "object", "additionalProperties": false, "required": ["now_ns", "now_unix_ms", "models"],
  "properties": {
    "now_ns": {"type": "integer"}, "now_unix_ms": {"type": "integer"},
    "models": {"type": "array", "items": {
      "type": "object", "required": ["name", "state", "reason"], "additionalProperties": false,
      "properties": {
        "name": {"type": "string"}, "version": {"type": "string"}, "state": {"type": "string"},
        "reason": {"type": "string"}, "recording": {"type": "boolean"},
        "queued": {"type": "integer"}, "succeeded": {"type": "integer"},
        "failed": {"type": "integer"}, "executions": {"type": "integer"},
        "instances": {"type": "array", "items": {"type": "string"}}}}}}
},
"Percentiles": {
  "type": "object", "additionalProperties": false, "required": ["p50", "p90", "p99"],
  "properties": {"p50": {"type": "integer"}, "p90": {"type": "integer"},
                 "p99": {"type": "integer"}}
},
"Counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
"RecentWork": {
  "type": "object", "additionalProperties": false,
  "description": "Of the window that ends now, from what the instances remember.",
  "required": ["window_ns", "executions", "batch_sizes", "reasons", "instances", "requests",
               "phases_ns", "latency_ns"],
  "properties": {
    "window_ns": {"type": "integer"}, "executions": {"type": "integer"},
    "batch_sizes": {"$ref": "#/components/schemas/Counts"},
    "reasons": {"$ref": "#/components/schemas/Counts"},
    "instances": {"type": "array", "items": {
      "type": "object", "required": ["name", "busy"], "additionalProperties": false,
      "properties": {"name": {"type": "string"},
                     "busy": {"type": "number", "minimum": 0, "maximum": 1}}}},
    "requests": {"type": "integer"},
    "phases_ns": {"type": "object",
                  "additionalProperties": {"$ref": "#/components/schemas/Percentiles"}},
    "latency_ns": {"$ref": "#/components/schemas/Percentiles"}}
},
"Activity": {
  "type": "object", "additionalProperties": false,
  "required": ["now_ns", "now_unix_ms", "server", "not_shown", "models"],
  "properties": {
    "now_ns": {"type": "integer"}, "now_unix_ms": {"type": "integer"},
    "server": {
      "type": "object", "additionalProperties": false,
      "required": ["name", "version", "uptime_ns", "in_flight", "in_flight_limit",
                   "in_flight_bytes", "in_flight_bytes_limit", "queued", "succeeded", "failed",
                   "states"],
      "properties": {
        "name": {"type": "string"}, "version": {"type": "string"},
        "uptime_ns": {"type": "integer"}, "in_flight": {"type": "integer"},
        "in_flight_limit": {"type": "integer"}, "in_flight_bytes": {"type": "integer"},
        "in_flight_bytes_limit": {"type": "integer"}, "queued": {"type": "integer"},
        "succeeded": {"type": "integer"}, "failed": {"type": "integer"},
        "states": {"$ref": "#/components/schemas/Counts"},
        "gpus": {"type": "array", "items": {
          "type": "object", "additionalProperties": false,
          "required": ["id", "name", "uuid", "memory_bytes", "pool_bytes", "pool_used_bytes"],
          "properties": {
            "id": {"type": "integer"}, "name": {"type": "string"}, "uuid": {"type": "string"},
            "memory_bytes": {"type": "integer"}, "pool_bytes": {"type": "integer"},
            "pool_used_bytes": {"type": "integer"}, "failure": {"type": "string"},
            "utilization": {"type": "number"}, "memory_used_bytes": {"type": "integer"},
            "power_watts": {"type": "number"}}}}}},
    "not_shown": {"type": "integer", "description": "Further versions, which are less busy."},
    "models": {"type": "array", "maxItems": 200, "items": {
      "type": "object", "required": ["name", "state", "reason"], "additionalProperties": false,
      "properties": {
        "name": {"type": "string"}, "version": {"type": "string"}, "state": {"type": "string"},
        "reason": {"type": "string"}, "in_flight": {"type": "integer"},
        "instances": {"type": "integer"}, "busy_ns": {"type": "integer"},
        "queued": {"type": "integer"}, "succeeded": {"type": "integer"},
        "failed": {"$ref": "#/components/schemas/Counts"}, "cache_hits": {"type": "integer"},
        "inferences": {"type": "integer"}, "executions": {"type": "integer"},
        "batch_sizes": {"$ref": "#/components/schemas/Counts"},
        "recent": {"$ref": "#/components/schemas/RecentWork"}}}}}
},
"LogLines": {
  "type": "object", "additionalProperties": false,
  "required": ["now_ns", "now_unix_ms", "dropped", "lines"],
  "properties": {
    "now_ns": {"type": "integer"}, "now_unix_ms": {"type": "integer"},
    "dropped": {"type": "integer",
                "description": "Lines after 'since' that are not kept any more."},
    "lines": {"type": "array", "maxItems": 1000, "items": {
      "type": "object", "required": ["number", "unix_us", "level", "message"],
      "additionalProperties": false,
      "properties": {
        "number": {"type": "integer", "minimum": 1}, "unix_us": {"type": "integer"},
        "level": {"enum": ["INFO", "WARNING", "ERROR", "VERBOSE"]},
        "place": {"type": "string"}, "message": {"type": "string"},
        "request_id": {"type": "string"}, "model": {"type": "string"}}}}}
},
"TraceEvents": {
  "type": "object", "description": "The trace-event format of Chrome; Perfetto opens it.",
  "required": ["traceEvents"],
  "properties": {"traceEvents": {"type": "array", "items": {"type": "object"}}}
},
"TfsModelStatus": {
  "type": "object", "required": ["model_version_status"], "additionalProperties": false,
  "properties": {"model_version_status": {"type": "array", "minItems": 1, "items": {
    "type": "object", "required": ["version", "state", "status"], "additionalProperties": false,
    "properties": {
      "version": {"type": "string"},
      "state": {"enum": ["UNKNOWN", "LOADING", "AVAILABLE", "UNLOADING", "END"]},
      "status": {
        "type": "object", "required": ["error_code", "error_message"],
        "additionalProperties": false,
        "properties": {"error_code": {"type": "string"}, "error_message": {"type": "string"}}}}}}}
},
"TfsModelMetadata": {
  "type": "object", "required": ["model_spec", "metadata"], "additionalProperties": false,
  "properties": {
    "model_spec": {
      "type": "object", "required": ["name", "signature_name", "version"],
      "additionalProperties": false,
      "properties": {"name": {"type": "string"}, "signature_name": {"type": "string"},
                     "version": {"type": "string"}}},
    "metadata": {"type": "object", "required": ["signature_def"],
                 "properties": {"signature_def": {"type": "object"}}}}
},
"TfsPredictRequest": {
  "type": "object",
  "oneOf": [{"required": ["instances"]}, {"required": ["inputs"]}],
  "properties": {
    "signature_name": {"type": "string"},
    "instances": {"type": "array", "minItems": 1,
                  "description": "For each row a value, or an object with a value for each input."},
    "inputs": {"description": "A tensor, or an object with a tensor for each input."}}
},
"TfsPredictResponse": {
  "type": "object", "additionalProperties": false,
  "oneOf": [{"required": ["predictions"]}, {"required": ["outputs"]}],
  "properties": {
    "predictions": {"type": "array", "description": "As 'instances' of the request."},
    "outputs": {"description": "As 'inputs' of the request."}}
},
"TfsExamplesRequest": {
  "type": "object", "required": ["examples"],
  "properties": {
    "signature_name": {"type": "string"},
    "context": {"type": "object", "description": "Features that all examples share."},
    "examples": {"type": "array", "minItems": 1, "items": {"type": "object"}}}
},
"TfsClassifyResponse": {
  "type": "object", "required": ["results"], "additionalProperties": false,
  "properties": {"results": {"type": "array", "items": {"type": "array", "items": {
    "type": "array", "description": "A label and its score."}}}}
},
"TfsRegressResponse": {
  "type": "object", "required": ["results"], "additionalProperties": false,
  "properties": {"results": {"type": "array", "items": {"type": "number"}}}
},
"Document": {"type": "object", "description": "A document of OpenAPI 3.1."},
"Welcome": {
  "type": "object", "required": ["name", "version", "documents", "models"],
  "additionalProperties": false,
  "properties": {
    "name": {"type": "string"}, "version": {"type": "string"},
    "documents": {"type": "object", "additionalProperties": {"type": "string"}},
    "models": {"$ref": "#/components/schemas/RepositoryIndex"}}
}
})json";

}  // namespace nereid
