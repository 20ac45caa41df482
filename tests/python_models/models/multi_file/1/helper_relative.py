# SPDX-License-Identifier: Apache-2.0
def shout(text):
    return text.upper()
