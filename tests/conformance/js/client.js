// SPDX-License-Identifier: Apache-2.0
// A client of the inference service that is written with grpc-js. It makes one check, and ends with
// 0 when the answers are right; otherwise it says what is wrong.
//
//   node client.js HOST:PORT PROTO_FOLDER CHECK
//
// The server needs the model "echo": FP32 of any length, INPUT0 comes back as OUTPUT0.
'use strict';

const assert = require('node:assert/strict');

const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const DEADLINE_MS = 20_000;
const LARGE_ELEMENTS = 4 << 20; // 16 MiB, more than any flow-control window
const LARGEST_MESSAGE = 64 << 20;
const STREAM_REQUESTS = 3;
const GZIP = 2; // of grpc.compressionAlgorithms

function connect(address, protoFolder, options = {}) {
  const definition = protoLoader.loadSync('grpc_service.proto', {
    includeDirs: [protoFolder],
    keepCase: true,
    longs: Number,
    defaults: true,
  });
  const Service = grpc.loadPackageDefinition(definition).inference.GRPCInferenceService;
  return new Service(address, grpc.credentials.createInsecure(), {
    'grpc.max_receive_message_length': LARGEST_MESSAGE,
    'grpc.max_send_message_length': LARGEST_MESSAGE,
    ...options,
  });
}

function deadline() {
  return { deadline: Date.now() + DEADLINE_MS };
}

function call(client, method, request) {
  return new Promise((resolve, reject) => {
    client[method](request, deadline(), (error, response) =>
      error ? reject(error) : resolve(response),
    );
  });
}

function inferRequest(id, values) {
  const raw = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => raw.writeFloatLE(value, 4 * i));
  return {
    model_name: 'echo',
    id,
    inputs: [{ name: 'INPUT0', datatype: 'FP32', shape: [values.length] }],
    raw_input_contents: [raw],
  };
}

// Throws unless this is the response to that request.
function assertEcho(response, request) {
  assert.equal(response.model_name, 'echo');
  assert.equal(response.id, request.id);
  assert.deepEqual(
    response.outputs.map(({ name, datatype, shape }) => ({ name, datatype, shape })),
    [{ name: 'OUTPUT0', datatype: 'FP32', shape: request.inputs[0].shape }],
  );
  assert.equal(response.raw_output_contents.length, 1);
  assert.ok(
    response.raw_output_contents[0].equals(request.raw_input_contents[0]),
    'the values did not come back as they were sent',
  );
}

async function infer(client, values) {
  const request = inferRequest('js', values);
  assertEcho(await call(client, 'ModelInfer', request), request);
}

// All responses of a stream that is sent these requests at once.
function streamResponses(client, requests) {
  return new Promise((resolve, reject) => {
    const stream = client.ModelStreamInfer(deadline());
    const responses = [];
    stream.on('data', (response) => responses.push(response));
    stream.on('error', reject);
    stream.on('end', () => resolve(responses));
    requests.forEach((request) => stream.write(request));
    stream.end();
  });
}

// Leaves a stream open, cancels it after its first response, and resolves with its error.
function canceledStream(client) {
  return new Promise((resolve, reject) => {
    const stream = client.ModelStreamInfer(deadline());
    stream.on('data', () => stream.cancel());
    stream.on('error', resolve);
    stream.on('end', () => reject(new Error('a canceled stream ended without an error')));
    stream.write(inferRequest('first', [1]));
  });
}

const checks = {
  async ready(connectWith) {
    const client = connectWith();
    assert.equal((await call(client, 'ServerLive', {})).live, true);
    assert.equal((await call(client, 'ServerReady', {})).ready, true);
  },

  async infer(connectWith) {
    await infer(connectWith(), [1.5, -2, Infinity]);
  },

  // Compresses the request; the server chooses how it answers.
  async gzip(connectWith) {
    const client = connectWith({ 'grpc.default_compression_algorithm': GZIP });
    await infer(client, new Array(10_000).fill(0));
  },

  async large(connectWith) {
    await infer(connectWith(), Array.from({ length: LARGE_ELEMENTS }, (_, i) => i));
  },

  async stream(connectWith) {
    const requests = Array.from({ length: STREAM_REQUESTS }, (_, i) =>
      inferRequest(String(i), [i]),
    );
    const responses = await streamResponses(connectWith(), requests);
    assert.equal(responses.length, requests.length);
    responses.forEach((response, i) => {
      assert.equal(response.error_message, '');
      assertEcho(response.infer_response, requests[i]);
    });
  },

  async unknown_model(connectWith) {
    await assert.rejects(call(connectWith(), 'ModelInfer', { model_name: 'nobody' }), (error) => {
      assert.equal(error.code, grpc.status.NOT_FOUND);
      assert.match(error.details, /'nobody'/);
      return true;
    });
  },

  // The connection still serves after a cancellation.
  async cancel(connectWith) {
    const client = connectWith();
    assert.equal((await canceledStream(client)).code, grpc.status.CANCELLED);
    await infer(client, [1]);
  },
};

async function main(address, protoFolder, name) {
  if (!Object.hasOwn(checks, name ?? '')) {
    console.error('usage: node client.js HOST:PORT PROTO_FOLDER CHECK');
    process.exit(2);
  }
  await checks[name]((options) => connect(address, protoFolder, options));
}

main(...process.argv.slice(2)).then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
