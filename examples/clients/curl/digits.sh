#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Asks the server which digit an image shows, with nothing but curl.
#
#   digits.sh [HOST:PORT [MODEL]]        default: localhost:8000 digits
#
# The tensors are sent as JSON here. Programs with much data send them in binary form after the
# JSON, as the Python client does.
set -eu

url=${1:-localhost:8000}
url=${url#http://}
model=${2:-digits}

# Image 3 of scikit-learn's digits, 8x8 pixels from 0 (paper) to 16 (ink). It shows a three.
request='{
  "inputs": [{
    "name": "image",
    "shape": [1, 64],
    "datatype": "FP32",
    "data": [
      0, 0,  7, 15, 13,  1, 0, 0,
      0, 8, 13,  6, 15,  4, 0, 0,
      0, 2,  1, 13, 13,  0, 0, 0,
      0, 0,  2, 15, 11,  1, 0, 0,
      0, 0,  0,  1, 12, 12, 1, 0,
      0, 0,  0,  0,  1, 10, 8, 0,
      0, 0,  8,  4,  5, 14, 9, 0,
      0, 0,  7, 13, 13,  9, 0, 0
    ]
  }],
  "outputs": [{"name": "digit"}, {"name": "probabilities"}]
}'

status=0
answer=$(curl --silent --show-error --max-time 10 --write-out '\n%{http_code}' \
  --header 'Content-Type: application/json' --data-raw "$request" \
  "http://$url/v2/models/$model/infer") || status=$?
if [ "$status" -ne 0 ]; then
  echo "error: no server answers at http://$url. Start one with \`make run\`," >&2
  echo "or name its address: $0 HOST:PORT" >&2
  exit 2
fi

# The last line is the HTTP status that --write-out appended.
code=${answer##*
}
printf '%s\n' "${answer%
*}"
if [ "$code" != 200 ]; then
  echo "error: the server answered with HTTP status $code" >&2
  exit 1
fi
