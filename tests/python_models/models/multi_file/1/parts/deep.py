# SPDX-License-Identifier: Apache-2.0
DEPTH = "deep down"
