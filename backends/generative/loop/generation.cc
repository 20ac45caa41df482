// SPDX-License-Identifier: Apache-2.0
#include "backends/generative/loop/generation.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "backends/generative/options.h"
#include "backends/generative/text/text_stream.h"
#include "backends/sdk/json.h"
#include "backends/sdk/server_function.h"
#include "backends/sdk/tensor.h"
#include "nereid/backend.h"

namespace nereid_backend {
namespace {

// A text may hold back as much, and is compared with each of them after each token.
constexpr size_t kMostStops = 16;
constexpr size_t kLongestStop = 256;
// Each takes some time to become text.
constexpr int64_t kMostLogprobs = 20;
// As many as the frontend of OpenAI's routes lets through.
constexpr int64_t kMostChoices = 128;
// Of a tenant's name, which each of up to 128 choices keeps.
constexpr size_t kLongestTenant = 256;
// Some thirty years.
constexpr uint64_t kMostTimeoutUs = uint64_t{1} << 50;

Error Refuse(std::string_view name, const Json& value, std::string_view expected) {
  return Error::InvalidArg(
      StrCat("sampling parameter '", name, "' is ", value.Write(), ": expected ", expected));
}

Error ReadNumber(std::string_view name, const Json& value, double least, double most,
                 double* number) {
  const double given = value.is_int() ? static_cast<double>(value.AsInt()) : value.AsDouble();
  if ((value.is_int() || value.is_double()) && given >= least && given <= most) {
    *number = given;
    return Error();
  }
  return Refuse(name, value, StrCat("a number from ", least, " to ", most));
}

Error ReadInteger(std::string_view name, const Json& value, int64_t least, int64_t most,
                  int64_t* number) {
  if (value.is_int() && value.AsInt() >= least && value.AsInt() <= most) {
    *number = value.AsInt();
    return Error();
  }
  return Refuse(name, value, StrCat("an integer from ", least, " to ", most));
}

Error ReadFlag(std::string_view name, const Json& value, bool* flag) {
  if (!value.is_bool()) return Refuse(name, value, "true or false");
  *flag = value.AsBool();
  return Error();
}

Error ReadTokens(std::string_view name, const Json& value, std::vector<Token>* tokens) {
  const auto& items = value.items();
  if (!value.is_array() ||
      !std::all_of(items.begin(), items.end(), [](const Json& one) { return one.is_int(); })) {
    return Refuse(name, value, "an array of tokens");
  }
  *tokens = value.AsInts();
  return Error();
}

// A text, or an array of them.
Error ReadStops(std::string_view name, const Json& value, std::vector<std::string>* stops) {
  const Json::Array one = value.is_string() ? Json::Array{value} : Json::Array();
  const Json::Array& items = value.is_string() ? one : value.items();
  stops->clear();
  for (const Json& item : items) {
    if (item.is_string()) stops->push_back(item.AsString());
  }
  const bool right = std::all_of(stops->begin(), stops->end(), [](const std::string& stop) {
    return !stop.empty() && stop.size() <= kLongestStop;
  });
  if (right && (value.is_string() || value.is_array()) && stops->size() == items.size() &&
      items.size() <= kMostStops) {
    return Error();
  }
  return Refuse(
      name, value,
      StrCat("a text of 1 to ", kLongestStop, " bytes, or up to ", kMostStops, " of them"));
}

Error ReadBias(std::string_view name, const Json& value,
               std::vector<std::pair<Token, double>>* biases) {
  if (!value.is_object()) return Refuse(name, value, "an object of tokens and numbers");
  for (const auto& [key, bias] : value.members()) {
    Token token = 0;
    const auto [end, failed] = std::from_chars(key.data(), key.data() + key.size(), token);
    if (failed != std::errc() || end != key.data() + key.size() || token < 0) {
      return Refuse(name, value, "an object of tokens and numbers");
    }
    double number = 0;
    NB_RETURN_IF_ERROR(ReadNumber(name, bias, -100, 100, &number));
    biases->emplace_back(token, number);
  }
  return Error();
}

Error ReadOne(std::string_view name, const Json& value, Generation* to) {
  SamplingParameters& sampling = to->sampling;
  if (name == "temperature") return ReadNumber(name, value, 0, 100, &sampling.temperature);
  if (name == "top_p") return ReadNumber(name, value, 0, 1, &sampling.top_p);
  if (name == "min_p") return ReadNumber(name, value, 0, 1, &sampling.min_p);
  if (name == "repetition_penalty") {
    return ReadNumber(name, value, 0.01, 100, &sampling.repetition_penalty);
  }
  if (name == "presence_penalty") {
    return ReadNumber(name, value, -2, 2, &sampling.presence_penalty);
  }
  if (name == "frequency_penalty") {
    return ReadNumber(name, value, -2, 2, &sampling.frequency_penalty);
  }
  if (name == "top_k") {
    NB_RETURN_IF_ERROR(ReadInteger(name, value, -1, kMostTokens, &sampling.top_k));
    sampling.top_k = std::max<int64_t>(sampling.top_k, 0);  // -1, too: all
    return Error();
  }
  if (name == "seed") {
    int64_t seed = 0;
    constexpr auto kAny = std::numeric_limits<int64_t>();
    NB_RETURN_IF_ERROR(ReadInteger(name, value, kAny.min(), kAny.max(), &seed));
    to->seed = static_cast<uint64_t>(seed);
    return Error();
  }
  if (name == "max_tokens") {
    to->has_max_tokens = true;
    return ReadInteger(name, value, 1, kMostTokens, &to->max_tokens);
  }
  if (name == "min_tokens") return ReadInteger(name, value, 0, kMostTokens, &to->min_tokens);
  if (name == "ignore_eos") return ReadFlag(name, value, &to->ignore_end);
  if (name == "stop_token_ids") return ReadTokens(name, value, &to->stop_tokens);
  if (name == "stop") return ReadStops(name, value, &to->stops);
  if (name == "include_stop_str_in_output") return ReadFlag(name, value, &to->include_stop);
  if (name == "priority") return ReadInteger(name, value, 1, kMostPriority, &to->priority);
  if (name == "n") return ReadInteger(name, value, 1, kMostChoices, &to->choices);
  if (name == "logprobs") {
    return ReadInteger(name, value, 0, kMostLogprobs, &to->logprobs.emplace());
  }
  if (name == "logit_bias") return ReadBias(name, value, &sampling.logit_bias);
  return Error::InvalidArg(StrCat(
      "sampling parameter '", name,
      "' is unknown: expected temperature, top_k, top_p, min_p, repetition_penalty, "
      "presence_penalty, frequency_penalty, logit_bias, seed, max_tokens, min_tokens, ignore_eos, "
      "stop_token_ids, stop, include_stop_str_in_output, "
      "logprobs, n or priority"));
}

Result<std::string> BytesOf(const InputView& input) {
  std::vector<Piece> pieces;
  NB_RETURN_IF_ERROR(AppendPieces(input, &pieces));
  std::string bytes(TotalSize(pieces), '\0');
  CopyPieces(pieces, bytes.data());
  return bytes;
}

// The only element of an input of one element, in its wire form.
Result<std::string> OneElement(const InputView& input) {
  if (ElementCount(input.dims, input.dim_count) != 1) {
    return Error::InvalidArg(
        StrCat("input '", input.name, "' has more or fewer elements than the one expected"));
  }
  return BytesOf(input);
}

template <typename T>
std::vector<T> ValuesOf(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy_n(bytes.data(), values.size() * sizeof(T), reinterpret_cast<char*>(values.data()));
  return values;
}

Result<std::string> OneText(const InputView& input) {
  NB_ASSIGN_OR_RETURN(const std::string bytes, OneElement(input));
  std::vector<std::string_view> texts;
  NB_RETURN_IF_ERROR(ParseBytes(bytes, 1, &texts));
  return std::string(texts[0]);
}

// What a request says outside of `generation`, or in an order of its own.
struct Asked {
  std::optional<std::string> text;
  bool has_ids = false;
  std::optional<int64_t> max_tokens;
};

Error ReadInput(const InputView& input, Asked* asked, Generation* generation) {
  const std::string_view name = input.name;
  if (name == kTextInput) {
    NB_ASSIGN_OR_RETURN(asked->text, OneText(input));
  } else if (name == kInputIds) {
    NB_ASSIGN_OR_RETURN(const std::string bytes, BytesOf(input));
    generation->prompt = ValuesOf<Token>(bytes);
    asked->has_ids = true;
  } else if (name == kMaxTokens) {
    NB_ASSIGN_OR_RETURN(const std::string bytes, OneElement(input));
    asked->max_tokens = ValuesOf<int64_t>(bytes).at(0);
  } else if (name == kStream) {
    NB_ASSIGN_OR_RETURN(const std::string bytes, OneElement(input));
    generation->stream = bytes.at(0) != 0;
  } else if (name == kSamplingParameters) {
    NB_ASSIGN_OR_RETURN(const std::string json, OneText(input));
    if (!json.empty()) return ReadSamplingParameters(json, generation);
  }
  return Error();
}

Error EncodePrompt(std::string_view text, Tokenizer* tokenizer, Generation* generation) {
  if (ValidUtf8(text) != text) {
    return Error::InvalidArg(StrCat("input '", kTextInput, "' is not UTF-8: expected a text"));
  }
  NB_ASSIGN_OR_RETURN(generation->prompt, tokenizer->Encode(text));
  generation->from_text = true;
  return Error();
}

Error ReadPrompt(const Asked& asked, Tokenizer* tokenizer, Generation* generation) {
  if (tokenizer == nullptr && !generation->stops.empty()) {
    return Error::InvalidArg(
        "sampling parameter 'stop' is about text, and the model has no tokenizer: expected "
        "'stop_token_ids'");
  }
  if (asked.text.has_value() == asked.has_ids) {
    return Error::InvalidArg(StrCat("the request has ", asked.has_ids ? "both" : "neither", " of '",
                                    kTextInput, "' and '", kInputIds, "': expected one of them"));
  }
  return asked.has_ids ? Error() : EncodePrompt(*asked.text, tokenizer, generation);
}

}  // namespace

Error ReadSamplingParameters(std::string_view json, Generation* generation) {
  Result<Json> parsed = Json::Parse(json);
  if (!parsed.ok() || !parsed->is_object()) {
    return Error::InvalidArg(
        StrCat("input '", kSamplingParameters, "' is no JSON object: ",
               parsed.ok() ? "it is another JSON value" : parsed.error().message()));
  }
  for (const auto& [name, value] : parsed->members()) {
    if (value.is_null()) continue;  // as if it were not given
    NB_RETURN_IF_ERROR(ReadOne(name, value, generation));
  }
  return Error();
}

Error CheckGeneration(const Generation& generation, const GenerationLimits& limits) {
  const char* const input = generation.from_text ? kTextInput : kInputIds;
  if (generation.prompt.empty()) {
    return Error::InvalidArg(StrCat("input '", input, "' is empty: expected a token or more"));
  }
  if (generation.max_tokens < 1 || generation.max_tokens > kMostTokens) {
    return Error::InvalidArg(
        StrCat("'", kMaxTokens, "' is ", generation.max_tokens, ": expected 1 to ", kMostTokens));
  }
  if (generation.choices > 1 && limits.one_choice) {
    return Error::InvalidArg(
        StrCat("sampling parameter 'n' is ", generation.choices,
               ", and the configuration has outputs for one text: expected 1, or the dimensions "
               "[ -1 ] of all outputs"));
  }
  for (const Token token : generation.prompt) {
    if (token >= 0 && (limits.vocabulary == 0 || token < limits.vocabulary)) continue;
    const int64_t most = limits.vocabulary == 0 ? INT64_MAX : limits.vocabulary - 1;
    return Error::InvalidArg(
        StrCat("input '", input, "' has the token ", token, ": expected tokens from 0 to ", most));
  }
  const auto prompt = static_cast<int64_t>(generation.prompt.size());
  if (limits.context == 0 || prompt + generation.max_tokens <= limits.context) return Error();
  return Error::InvalidArg(StrCat("the prompt of ", prompt, " tokens and ", generation.max_tokens,
                                  " new ones are more than the ", limits.context,
                                  " tokens of the network's context"));
}

void ChooseMaxTokens(const GenerationLimits& limits, Generation* generation) {
  if (generation->has_max_tokens) return;
  const int64_t room =
      limits.context == 0 ? limits.memory : std::min(limits.context, limits.memory);
  // One more than there is room for is refused with the numbers.
  const int64_t left = room - static_cast<int64_t>(generation->prompt.size());
  generation->max_tokens = std::clamp<int64_t>(left, 1, limits.default_max_tokens);
}

Error ReadWhole(const char* name, TRITONSERVER_ParameterType type, const void* value,
                uint64_t* number) {
  if (type == TRITONSERVER_PARAMETER_INT && *static_cast<const int64_t*>(value) >= 0) {
    *number = static_cast<uint64_t>(*static_cast<const int64_t*>(value));
    return Error();
  }
  return Error::InvalidArg(StrCat("parameter '", name, "' is no integer from 0 on"));
}

// Who comes first, as the request says besides its inputs.
struct Order {
  uint64_t priority = 0;
  uint64_t timeout_us = 0;
  std::string tenant;
};

// Protocols know priority and time-out; generate passes them on as any other parameters.
Error ReadParameters(TRITONBACKEND_Request* request, Order* order) {
  uint32_t count = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestParameterCount(request, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    TRITONSERVER_ParameterType type;
    const void* value = nullptr;
    NB_RETURN_IF_ERROR(TRITONBACKEND_RequestParameter(request, i, &name, &type, &value));
    const std::string_view which = name;
    if (which == "priority") {
      NB_RETURN_IF_ERROR(ReadWhole(name, type, value, &order->priority));
    } else if (which == "timeout") {
      NB_RETURN_IF_ERROR(ReadWhole(name, type, value, &order->timeout_us));
    } else if (which == "tenant") {
      if (type != TRITONSERVER_PARAMETER_STRING) {
        return Error::InvalidArg("parameter 'tenant' is no text: expected a name");
      }
      order->tenant = static_cast<const char*>(value);
      if (order->tenant.size() > kLongestTenant) {
        return Error::InvalidArg(StrCat("parameter 'tenant' has ", order->tenant.size(),
                                        " bytes: at most ", kLongestTenant, " are taken"));
      }
    }
  }
  return Error();
}

// A priority in sampling_parameters comes first.
Error ReadOrder(TRITONBACKEND_Request* request, const GenerationLimits& limits,
                Generation* generation) {
  Order order;
  NB_RETURN_IF_ERROR(TRITONBACKEND_InferenceRequestTimeoutMicroseconds(request, &order.timeout_us));
  static auto* const priority_of =
      ServerFunction<decltype(NEREID_RequestPriority)>("NEREID_RequestPriority");
  if (priority_of != nullptr) NB_RETURN_IF_ERROR(priority_of(request, &order.priority));
  NB_RETURN_IF_ERROR(ReadParameters(request, &order));
  generation->timeout_ns = std::min(order.timeout_us, kMostTimeoutUs) * 1000;
  generation->tenant = std::move(order.tenant);
  if (generation->priority == 0) {
    generation->priority =
        static_cast<int64_t>(std::min(order.priority, static_cast<uint64_t>(kMostPriority)));
  }
  if (generation->priority == 0) generation->priority = limits.default_priority;
  return Error();
}

Result<Generation> ReadGeneration(TRITONBACKEND_Request* request, const GenerationLimits& limits,
                                  Tokenizer* tokenizer) {
  Generation generation;
  uint32_t count = 0;
  NB_RETURN_IF_ERROR(TRITONBACKEND_RequestInputCount(request, &count));
  Asked asked;
  for (uint32_t i = 0; i < count; ++i) {
    NB_ASSIGN_OR_RETURN(const InputView input, InputView::At(request, i));
    NB_RETURN_IF_ERROR(ReadInput(input, &asked, &generation));
  }
  // Whatever their order, the input counts, and not the parameter.
  if (asked.max_tokens.has_value()) {
    generation.max_tokens = *asked.max_tokens;
    generation.has_max_tokens = true;
  }
  NB_RETURN_IF_ERROR(ReadOrder(request, limits, &generation));
  NB_RETURN_IF_ERROR(ReadPrompt(asked, tokenizer, &generation));
  ChooseMaxTokens(limits, &generation);
  NB_RETURN_IF_ERROR(CheckGeneration(generation, limits));
  return generation;
}

}  // namespace nereid_backend
