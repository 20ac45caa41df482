// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  curlSample,
  goSample,
  goString,
  pythonLiteral,
  pythonSample,
  shellWord,
} from "../src/code_samples.ts";
import { valuesOf } from "../src/playground_answer.ts";
import { parseExactly } from "../src/exact_json.ts";
import {
  messageOf,
  elements,
  fill,
  initialShape,
  inferPath,
  oneLine,
  problem,
  type RequestForm,
} from "../src/request_builder.ts";

const FORM: RequestForm = {
  model: "my model",
  version: "1",
  id: "it's",
  outputs: [{ name: "OUTPUT0", datatype: "INT64" }],
  inputs: [{ name: "INPUT0", datatype: "INT64", shape: [1, 2], data: "[ 9007199254740993,\n 2 ]" }],
};
const TARGET = { tls: false, host: "localhost:8000" };

test("variable dimensions begin as 1", () => {
  assert.deepEqual(initialShape({ name: "x", datatype: "FP32", shape: [-1, 3] }), [1, 3]);
  assert.equal(elements([2, 3]), 6);
  assert.equal(elements([]), 1);
});

test("data of each kind are made", () => {
  assert.equal(fill("FP32", [3], "zeros"), "[0, 0, 0]");
  assert.equal(fill("INT32", [3], "count"), "[0, 1, 2]");
  assert.equal(fill("BOOL", [2], "count"), "[false, true]");
  assert.equal(fill("BYTES", [2], "count"), '["text 0", "text 1"]');
  assert.equal(
    fill("FP64", [2], "random", () => 0.123456),
    "[0.1235, 0.1235]",
  );
  assert.equal(
    fill("UINT8", [1], "random", () => 0.5),
    "[50]",
  );
  assert.equal(
    JSON.parse(fill("INT8", [300], "count")).every((value: number) => value < 128),
    true,
  );
});

test("problems are named", () => {
  const input = { name: "x", datatype: "FP32", shape: [1, 2], data: "[1, 2]" };
  const known = { name: "x", datatype: "FP32", shape: [-1, 2] };
  assert.equal(problem(input, known), undefined);
  assert.equal(problem({ ...input, data: "[[1, 2]]" }, known), undefined);
  assert.match(problem({ ...input, shape: [NaN] }, known) ?? "", /whole numbers/);
  assert.match(problem({ ...input, shape: [1, 3] }, known) ?? "", /the model takes \[-1,2\]/);
  assert.match(problem({ ...input, data: "[1" }, known) ?? "", /JSON/);
  assert.match(problem({ ...input, data: "7" }, known) ?? "", /list/);
  assert.match(problem({ ...input, data: "[1]" }, known) ?? "", /1 elements, but its shape has 2/);
  assert.match(problem({ ...input, datatype: "FP16", data: '[1, "2"]' }, known) ?? "", /numbers/);
});

test("the body keeps every digit", () => {
  const body = messageOf(FORM).json;
  assert.equal(
    body,
    '{"id":"it\'s","inputs":[{"name":"INPUT0","datatype":"INT64","shape":[1,2],"data":[9007199254740993,2]}]}',
  );
  assert.equal(messageOf({ ...FORM, id: "" }).json.includes('"id"'), false);
});

test("blanks go, but not those in strings", () => {
  assert.equal(oneLine('[ "a b\\" c" ,\n1 ]'), '["a b\\" c",1]');
});

test("names are encoded in the path", () => {
  assert.equal(inferPath(FORM), "/v2/models/my%20model/versions/1/infer");
  assert.equal(inferPath({ ...FORM, version: "" }), "/v2/models/my%20model/infer");
});

test("curl: quotes are safe in a shell", () => {
  assert.equal(shellWord("it's $HOME"), "'it'\\''s $HOME'");
  const sample = curlSample(FORM, { tls: true, host: "h:1" });
  assert.match(sample, /^curl 'https:\/\/h:1\/v2\/models\/my%20model\/versions\/1\/infer' \\\n/);
  assert.ok(sample.includes(`'{"id":"it'\\''s"`));
});

test("Python: literals are Python's", () => {
  assert.equal(
    pythonLiteral('[true, false, "true \\" \\n\\u0041", 1e5]'),
    '[True, False, "true \\" \\x0aA", 1e5]',
  );
  assert.equal(pythonLiteral('["\\ud83d\\ude00", "\\ud83d"]'), '["😀", "\\ud83d"]');
  const sample = pythonSample(FORM, TARGET);
  assert.ok(sample.includes('client = http.InferenceServerClient("localhost:8000")'));
  assert.ok(sample.includes("np.array([9007199254740993, 2], dtype=np.int64).reshape([1, 2])"));
  assert.ok(sample.includes('client.infer("my model", [input0], model_version="1", request_id="it\'s")'));
});

test("Go: raw strings where they can be", () => {
  assert.equal(goString('{"a":1}'), '`{"a":1}`');
  assert.equal(goString("a`b"), '"a`b"');
  assert.equal(goString("a\ud83d"), '"a\\ud83d"');
  assert.ok(
    goSample(FORM, TARGET).includes('url := "http://localhost:8000/v2/models/my%20model/versions/1/infer"'),
  );
});

test("numbers of answers", () => {
  assert.deepEqual(parseExactly('{"data":[1, 2.5, -3]}'), { data: [1, 2.5, -3] });
});

const HALF: RequestForm = {
  model: "h",
  version: "",
  id: "",
  inputs: [{ name: "x", datatype: "FP16", shape: [2], data: "[1.5, -2]" }],
  outputs: [
    { name: "y", datatype: "BF16" },
    { name: "z", datatype: "INT32" },
  ],
};

test("what JSON cannot hold travels behind it", () => {
  const { json, tail } = messageOf(HALF);
  assert.deepEqual(JSON.parse(json), {
    inputs: [{ name: "x", datatype: "FP16", shape: [2], parameters: { binary_data_size: 4 } }],
    outputs: [{ name: "y", parameters: { binary_data: true } }, { name: "z" }],
  });
  assert.deepEqual([...tail], [0x00, 0x3e, 0x00, 0xc0]);
  const length = String(json.length);
  const curl = curlSample(HALF, TARGET);
  assert.ok(curl.includes("printf '\\000\\076\\000\\300'"));
  assert.ok(curl.includes(`'Inference-Header-Content-Length: ${length}'`));
  assert.ok(pythonSample(HALF, TARGET).includes("np.array([1.5, -2], dtype=np.float16)"));
  const go = goSample(HALF, TARGET);
  assert.ok(go.includes('"\\x00\\x3e\\x00\\xc0"'));
  assert.ok(go.includes(`request.Header.Set("Inference-Header-Content-Length", "${length}")`));
});

test("values of answers are JSON's, or those behind it", () => {
  const outputs = [
    { name: "a", datatype: "FP16", shape: [1], parameters: { binary_data_size: 2 } },
    { name: "b", datatype: "INT32", shape: [1], data: [7] },
    { name: "c", datatype: "BF16", shape: [2], parameters: { binary_data_size: 4 } },
  ];
  const tail = Uint8Array.from([0x00, 0x3e, 0x80, 0x3f, 0x00, 0xc0]);
  assert.deepEqual(valuesOf(outputs, tail), [[1.5], [7], [1, -2]]);
});
