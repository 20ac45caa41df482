// SPDX-License-Identifier: Apache-2.0
// Asks the server which digit an image shows, with nothing but Node.js (18 or later).
//
//   node digits.mjs [localhost:8000 [digits]]
//
// The tensors travel in binary form: the body is JSON, which says what the tensors are, and then
// their bytes. Exit status: 0 the server answered, 1 it refused, 2 nobody answers.

const place = process.argv[2] ?? "localhost:8000";
const url = place.includes("://") ? place : `http://${place}`;
const model = process.argv[3] ?? "digits";
const LENGTH = "Inference-Header-Content-Length";

// Image 3 of scikit-learn's digits, 8x8 pixels from 0 (paper) to 16 (ink).
// prettier-ignore
const image = Float32Array.of(
  0, 0, 7, 15, 13, 1, 0, 0,
  0, 8, 13, 6, 15, 4, 0, 0,
  0, 2, 1, 13, 13, 0, 0, 0,
  0, 0, 2, 15, 11, 1, 0, 0,
  0, 0, 0, 1, 12, 12, 1, 0,
  0, 0, 0, 0, 1, 10, 8, 0,
  0, 0, 8, 4, 5, 14, 9, 0,
  0, 0, 7, 13, 13, 9, 0, 0,
);

/** Sends tensors, and returns the outputs by name, each as a DataView. Typed arrays are
 * little-endian on every processor that Node.js runs on, as the protocol wants it. */
async function infer(inputs) {
  const head = new TextEncoder().encode(
    JSON.stringify({
      inputs: inputs.map(({ name, datatype, shape, data }) => ({
        name,
        datatype,
        shape,
        parameters: { binary_data_size: data.byteLength },
      })),
      parameters: { binary_data_output: true },
    }),
  );
  const response = await fetch(`${url}/v2/models/${model}/infer`, {
    method: "POST",
    headers: { "Content-Type": "application/octet-stream", [LENGTH]: String(head.length) },
    body: new Blob([head, ...inputs.map(({ data }) => data)]),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) {
    const error = new Error((await response.json()).error);
    error.status = response.status;
    throw error;
  }
  const body = await response.arrayBuffer();
  let at = Number(response.headers.get(LENGTH));
  const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 0, at)));
  const outputs = {};
  for (const output of answer.outputs) {
    const size = output.parameters.binary_data_size;
    outputs[output.name] = new DataView(body, at, size);
    at += size;
  }
  return outputs;
}

try {
  const outputs = await infer([{ name: "image", datatype: "FP32", shape: [1, 64], data: image }]);
  const digit = Number(outputs.digit.getBigInt64(0, true));
  const probability = outputs.probabilities.getFloat32(4 * digit, true);
  console.log(`${model}: this is a ${digit} (probability ${(100 * probability).toFixed(1)}%)`);
} catch (error) {
  const why = error.cause?.message || error.cause?.code || error.message;
  console.error("error:", error.status === undefined ? `${url}: ${why}` : why);
  process.exitCode = error.status === undefined ? 2 : 1;
}
