#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks the models of this example with the official client of OpenAI's API."""

import argparse
import sys

import openai


def ask(client: openai.OpenAI) -> None:
    print("models:", ", ".join(model.id for model in client.models.list()))

    chat = client.chat.completions.create(
        model="parrot", messages=[{"role": "user", "content": "Polly wants a cracker"}]
    )
    print("chat:", chat.choices[0].message.content, f"({chat.usage.total_tokens} tokens)")

    print("stream:", end="", flush=True)
    stream = client.completions.create(
        model="parrot", prompt="pieces of eight and more", max_tokens=3, stream=True
    )
    for event in stream:
        choice = event.choices[0]
        print(f" [{choice.text or choice.finish_reason}]", end="", flush=True)
    print()

    both = client.embeddings.create(model="letters", input=["listen", "silent"])
    first, second = (item.embedding for item in both.data)
    print("embeddings:", "alike" if first == second else "different")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://localhost:8000/v1")
    url = parser.parse_args().url
    try:
        ask(openai.OpenAI(base_url=url, api_key="none"))
    except openai.APIStatusError as error:
        print(f"error: {error.message}", file=sys.stderr)
        return 1
    except openai.APIConnectionError as error:
        print(
            f"error: no server answers at {url} ({error}); start it as README.md says, or name "
            "its address: --url=http://HOST:PORT/v1",
            file=sys.stderr,
        )
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
