#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks the models of this example with the official client of OpenAI's API."""

import argparse

import openai


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://localhost:8000/v1")
    client = openai.OpenAI(base_url=parser.parse_args().url, api_key="none")

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


if __name__ == "__main__":
    main()
