# SPDX-License-Identifier: Apache-2.0
def whisper(text):
    return text.lower()
