// SPDX-License-Identifier: Apache-2.0
#include "frontends/openai/chat_format.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <cstddef>
#include <iterator>

#include "frontends/openai/openai_error.h"

namespace nereid {
namespace {

void AppendChatMl(absl::Span<const ChatMessage> messages, std::string* prompt) {
  for (const ChatMessage& message : messages) {
    absl::StrAppend(prompt, "<|im_start|>", message.role, "\n", message.content, "<|im_end|>\n");
  }
  absl::StrAppend(prompt, "<|im_start|>assistant\n");
}

// The tokenizer of these models puts the token for the beginning of a text in front.
void AppendLlama3(absl::Span<const ChatMessage> messages, std::string* prompt) {
  const auto header = [prompt](absl::string_view role) {
    absl::StrAppend(prompt, "<|start_header_id|>", role, "<|end_header_id|>\n\n");
  };
  for (const ChatMessage& message : messages) {
    header(message.role);
    absl::StrAppend(prompt, absl::StripAsciiWhitespace(message.content), "<|eot_id|>");
  }
  header("assistant");
}

// There is no place for a system message, so it stands before the text of the next user.
void AppendMistral(absl::Span<const ChatMessage> messages, std::string* prompt) {
  std::string before;
  for (const ChatMessage& message : messages) {
    const absl::string_view content = absl::StripAsciiWhitespace(message.content);
    if (message.role == "system") {
      absl::StrAppend(&before, content, "\n\n");
    } else if (message.role == "user") {
      absl::StrAppend(prompt, "[INST] ", before, content, " [/INST]");
      before.clear();
    } else {
      absl::StrAppend(prompt, " ", content, "</s>");
    }
  }
  if (!before.empty()) {
    absl::StrAppend(prompt, "[INST] ", absl::StripAsciiWhitespace(before), " [/INST]");
  }
}

void AppendPlain(absl::Span<const ChatMessage> messages, std::string* prompt) {
  for (const ChatMessage& message : messages) {
    absl::StrAppend(prompt, message.role, ": ", message.content, "\n");
  }
  absl::StrAppend(prompt, "assistant:");
}

constexpr ChatFormat kChatFormats[] = {
    {"chatml", {"<|im_start|>", "<|im_end|>", nullptr}, &AppendChatMl},
    {"llama3",
     {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|begin_of_text|>",
      "<|end_of_text|>", nullptr},
     &AppendLlama3},
    {"mistral", {"[INST]", "[/INST]", "<s>", "</s>", nullptr}, &AppendMistral},
    {"plain", {nullptr}, &AppendPlain},
};

}  // namespace

const ChatFormat* FindChatFormat(absl::string_view name) {
  for (const ChatFormat& format : kChatFormats) {
    if (name == format.name) return &format;
  }
  return nullptr;
}

std::string ChatFormatNames() {
  std::string names;
  for (size_t i = 0; i < std::size(kChatFormats); ++i) {
    const char* const separator = i == 0 ? "" : i + 1 < std::size(kChatFormats) ? ", " : " or ";
    absl::StrAppend(&names, separator, kChatFormats[i].name);
  }
  return names;
}

absl::StatusOr<std::string> ChatPrompt(const ChatFormat& format,
                                       absl::Span<const ChatMessage> messages) {
  for (size_t i = 0; i < messages.size(); ++i) {
    for (const char* const* mark = format.marks; *mark != nullptr; ++mark) {
      if (messages[i].content.find(*mark) == std::string::npos) continue;
      return OpenAiFieldError(
          "messages", absl::StrCat("'messages[", i, "].content' contains '", *mark,
                                   "', by which the chat template ", format.name,
                                   " of the model separates messages: it must not be in a text"));
    }
  }
  std::string prompt;
  format.append(messages, &prompt);
  return prompt;
}

}  // namespace nereid
