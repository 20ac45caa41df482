#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Asks what a message is about, and gets the two likeliest topics.
#
#   ask.sh [TEXT [HOST:PORT]]
#
# Exit status: 0 the server answered, 2 nobody answers.
set -eu

text=${1:-'Hello, where is the parcel that the courier lost?'}
url=${2:-localhost:8000}

# A text in JSON: quotes and backslashes get a backslash.
quoted=$(printf '%s' "$text" | sed 's/[\\"]/\\&/g')
curl --silent --show-error --max-time 10 "http://$url/v2/models/tickets/infer" --data-raw '{
  "inputs": [{"name": "TEXT", "shape": [1, 1], "datatype": "BYTES", "data": ["'"$quoted"'"]}],
  "outputs": [{"name": "TOPICS", "parameters": {"classification": 2}}]}' || {
  echo "error: no server answers at $url; start it as README.md says," \
    "or name its address: ask.sh TEXT HOST:PORT" >&2
  exit 2
}
echo
