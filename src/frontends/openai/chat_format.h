// SPDX-License-Identifier: Apache-2.0
// ChatFormat: a way in which the messages of a chat become one prompt, for models that take text.
// The formats are built in and have names. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_OPENAI_CHAT_FORMAT_H_
#define NEREID_FRONTENDS_OPENAI_CHAT_FORMAT_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <string>

namespace nereid {

struct ChatMessage {
  std::string role;  // system, user or assistant
  std::string content;
};

struct ChatFormat {
  const char* name;
  // What separates messages; a message that has one of these in its text could pass itself off as
  // several. Ends with null.
  const char* marks[8];
  // Appends the prompt, up to where the model goes on.
  void (*append)(absl::Span<const ChatMessage> messages, std::string* prompt);
};

// Null if there is no format with this name.
const ChatFormat* FindChatFormat(absl::string_view name);
// "chatml, llama3, mistral or plain"
std::string ChatFormatNames();

// The prompt. INVALID_ARGUMENT, with the field that is wrong, for a text that has a mark.
absl::StatusOr<std::string> ChatPrompt(const ChatFormat& format,
                                       absl::Span<const ChatMessage> messages);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_OPENAI_CHAT_FORMAT_H_
