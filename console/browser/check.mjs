// SPDX-License-Identifier: Apache-2.0
// Drives the console in Chromium while a server is under load, and fails if the page is wrong.
//
//   node check.mjs LINK MODEL BROWSER SAMPLES [FOLDER]
//
// LINK: what the server has printed. MODEL: takes INPUT0, FP32 [-1,4], and echoes it; nobody else uses
// it. There are models `half` and `words`, which do the same with FP16 [2] and BYTES [-1], `talk` with
// two slots for sequences and FP32 [-1,1], --model-control-mode=explicit, and
// --http-restricted-api='nereid:console-key=opens it'.
// SAMPLES: the playground's requests for other clients go there, a folder for each model: curl.sh,
// python.py, go.go, and answer.json, the outputs that the page has got. FOLDER: pictures of the views
// go there.
// tests/conformance/test_console_page.py starts both.
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const CLIENTS = 8;
const REQUESTS = 40; // of each client

const [link, model, executablePath, samples, folder] = process.argv.slice(2);
const { origin, hash } = new URL(link);
const headers = { Authorization: `Bearer ${hash.slice("#token=".length)}` };
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const wrong = [];

async function text(path) {
  const answer = await fetch(origin + path, { headers });
  assert.equal(answer.status, 200, path);
  return answer.text();
}

// The clients use the HTTP port.
const { http_port } = JSON.parse(await text("/console/settings"));
async function infer(body, of = model) {
  const answer = await fetch(`http://127.0.0.1:${http_port}/v2/models/${of}/infer`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 200);
  return answer.json();
}

async function load() {
  const data = [1, 2, 3, 4];
  const client = async (name) => {
    for (let i = 0; i < REQUESTS; i++) {
      await infer({
        id: `${name}-${i}`,
        inputs: [{ name: "INPUT0", datatype: "FP32", shape: [1, 4], data }],
      });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(`client-${i}`)));
}

async function counter(name) {
  const line = new RegExp(`^${name}\\{model="${model}",version="1"\\} (\\d+)`, "m").exec(
    await text("/metrics"),
  );
  return Number(line?.[1]);
}

async function open(colorScheme, viewport = { width: 1440, height: 900 }) {
  const context = await browser.newContext({ colorScheme, viewport });
  await context.addInitScript(axe); // which the page's own policy would refuse
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`script: ${error.message}`));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== origin) wrong.push(`another host: ${request.url()}`);
  });
  await page.goto(link);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  return page;
}

async function go(page, address, heading) {
  await page.evaluate((to) => (location.hash = to), address);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
}

// Serious findings of axe on the view that is open.
async function look(page, view) {
  const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
  for (const { id, impact, nodes } of violations) {
    if (impact === "serious" || impact === "critical")
      wrong.push(`${view}: axe ${id}: ${nodes[0].html} ${nodes[0].failureSummary}`);
  }
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${view}.png` });
}

const batchCount = () => counter("nv_inference_exec_count");
const requestsIn = (trace) => trace.traceEvents.filter(({ ph, args }) => ph === "b" && args !== undefined);

// The file that the button gives.
async function savedTrace(page) {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Trace file" }).click(),
  ]);
  assert.equal(file.suggestedFilename(), `${model}-1-trace.json`);
  return JSON.parse(await readFile(await file.path(), "utf8"));
}

// The same, of a small part of the time around a request.
async function narrowTrace(page) {
  await page.getByLabel("Request id").fill(`client-0-${REQUESTS / 2}`);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Request client-0-${REQUESTS / 2}` }).waitFor();
  return savedTrace(page);
}

// What the playground shows for other clients, and the outputs that they should get.
async function keepSamples(page, name, outputs) {
  await mkdir(`${samples}/${name}`, { recursive: true });
  for (const [language, word, file] of [
    ["curl", "curl ", "curl.sh"],
    ["Python", "tritonclient", "python.py"],
    ["Go", "net/http", "go.go"],
  ]) {
    await page.getByLabel(language, { exact: true }).check();
    const code = page.locator(".code pre").filter({ hasText: word });
    await code.waitFor();
    await writeFile(`${samples}/${name}/${file}`, await code.textContent());
  }
  await writeFile(`${samples}/${name}/answer.json`, JSON.stringify(outputs));
}

const checks = {
  async "the token leaves the address, and models have their state"(page) {
    assert.equal(new URL(page.url()).hash, "#/");
    await page.getByRole("row", { name: new RegExp(`${model} 1 READY`) }).waitFor();
    await page.getByText("nereid check finds no problem in 4 models.").waitFor();
  },

  async "plots begin with what the server remembers"(page) {
    const samples = async () => JSON.parse(await text("/console/history")).samples;
    while ((await samples()).length < 3) await new Promise((resolve) => setTimeout(resolve, 200));
    const asked = page.waitForResponse((answer) => answer.url().endsWith("/console/history"));
    await page.reload();
    await asked;
    // Rates need two moments: the page has had one of its own so far.
    const rate = page.locator(".tiles div").filter({ hasText: "Requests/s" }).locator("b");
    await rate.waitFor();
    assert.equal(await rate.textContent(), "0");
  },

  async "the timeline shows the batches and requests that the metrics count"(page) {
    await go(page, `#/model/${model}/1/timeline`, model);
    const shown = page.getByTestId("shown");
    const empty = /^0 batches and 0 requests in 2 s; (nothing is remembered yet|.* \(Latest shows it\))/;
    await shown.filter({ hasText: empty }).waitFor();
    await load();
    for (let i = 0; i < 6; i++) await page.getByRole("button", { name: "Zoom out" }).click();
    const batches = await batchCount();
    assert.ok(batches > 0 && batches < CLIENTS * REQUESTS, `${batches} batches`);
    await shown.filter({ hasText: `${batches} batches and ${CLIENTS * REQUESTS} requests in` }).waitFor();
    await look(page, "timeline");
  },

  async "a request is found by its id, with its batch and the members"(page) {
    const id = `client-3-${REQUESTS - 2}`;
    await page.getByLabel("Request id").fill(id);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: `Request ${id}` }).waitFor();
    await page.getByRole("button", { name: "Follow" }).waitFor(); // it is paused
    await page.getByRole("button", { name: "Show its batch" }).click();
    const record = JSON.parse(await text(`/v2/nereid/requests/${id}`)).requests[0].execution;
    await page.getByRole("heading", { name: `Batch ${record.number} of ${record.instance}` }).waitFor();
    await page.locator(".side").getByText(record.reason, { exact: true }).waitFor();
    for (const member of record.members)
      await page.getByRole("button", { name: member, exact: true }).waitFor();
    await look(page, "batch");
    await page.getByLabel("Request id").fill("nobody");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("No request 'nobody' is remembered.").waitFor();
  },

  async "the trace file has what is shown"(page) {
    await page.getByRole("button", { name: "Latest record" }).click();
    for (let i = 0; i < 12; i++) await page.getByRole("button", { name: "Zoom out" }).click();
    const [all, some] = [await savedTrace(page), await narrowTrace(page)];
    assert.equal(requestsIn(all).length, CLIENTS * REQUESTS);
    assert.equal(all.traceEvents.filter(({ cat }) => cat === "execution").length, await batchCount());
    assert.ok(requestsIn(some).length > 0 && requestsIn(some).length < CLIENTS * REQUESTS);
    const shown = await page.getByTestId("shown").textContent();
    assert.match(shown, new RegExp(` and ${requestsIn(some).length} requests? in`));
  },

  async "the timeline says why batches left, and zooms to the chosen one"(page) {
    await page.getByRole("button", { name: "Latest record" }).click();
    const legend = page.getByRole("list", { name: "Why batches left their queue" });
    assert.match(await legend.textContent(), /(delay_over|preferred_size|full): it/);
    assert.doesNotMatch(await legend.textContent(), /sequence_slots/); // does not occur
    const canvas = page.getByRole("application");
    await canvas.focus();
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Selection" }).click();
    // The chosen one, and those that the other instance computed meanwhile.
    await page
      .getByTestId("shown")
      .filter({ hasText: /^\d batch(es)? and/ })
      .waitFor();
    // The batch lies in the middle, in the row of one of the two instances.
    const { x, y, width } = await canvas.boundingBox();
    for (const row of [36, 62]) {
      await page.mouse.move(x + 132 + (width - 132) / 2, y + row);
      if (await page.locator(".tip").isVisible()) break;
    }
    assert.match(await page.locator(".tip").textContent(), /^Batch \d+: \d+ requests?, [\d.]+ .?s\. \w+: it/);
    const wide = await page.getByTestId("shown").textContent();
    await page.keyboard.down("Shift");
    await page.mouse.move(x + 300, y + 200);
    await page.mouse.down();
    await page.mouse.move(x + 400, y + 200);
    await page.mouse.up();
    await page.keyboard.up("Shift");
    assert.notEqual(await page.getByTestId("shown").textContent(), wide);
  },

  async "another model is chosen in the same view"(page) {
    await page.getByLabel("Model", { exact: true }).selectOption({ label: "half" });
    await page.getByRole("heading", { level: 1, name: "half" }).waitFor();
    assert.equal(new URL(page.url()).hash, "#/model/half/1/timeline");
    await page.getByLabel("Model", { exact: true }).selectOption({ label: model });
    await page.getByRole("heading", { level: 1, name: model }).waitFor();
    await page.getByTestId("shown").filter({ hasText: "batch" }).waitFor();
  },

  async "keys move the timeline"(page) {
    await page.getByRole("button", { name: "Latest record" }).click();
    const title = page.locator(".side h2");
    await page.getByRole("application").focus();
    await page.keyboard.press("p");
    const before = await title.textContent();
    await page.keyboard.press("p");
    assert.notEqual(await title.textContent(), before);
    const shown = page.getByTestId("shown");
    const wide = await shown.textContent();
    await page.keyboard.press("-");
    assert.notEqual(await shown.textContent(), wide);
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: "Pause" }).waitFor();
  },

  async "requests of sequences have the slot of their sequence"(page) {
    const step = (sequence, i) => ({
      id: `${sequence}-${i}`,
      parameters: { sequence_id: sequence, sequence_start: i === 0, sequence_end: i === 3 },
      inputs: [{ name: "INPUT0", datatype: "FP32", shape: [1, 1], data: [i] }],
    });
    for (let i = 0; i < 4; i++) for (const sequence of [7, 8]) await infer(step(sequence, i), "talk");
    await go(page, "#/model/talk/1/timeline", "talk");
    for (const [id, slot] of [
      ["7-1", "0"],
      ["8-2", "1"],
    ]) {
      await page.getByLabel("Request id").fill(id);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: `Request ${id}` }).waitFor();
      const fact = (name) => page.locator(".facts div").filter({ has: page.locator("dt", { hasText: name }) });
      assert.equal(await fact("Slot").locator("dd").textContent(), slot);
      assert.equal(await fact("Sequence").locator("dd").textContent(), id.slice(0, 1));
    }
    await look(page, "slots");
  },

  async "the playground's answer is that of a client"(page) {
    await go(page, `#/model/${model}/1/playground`, model);
    await page.getByLabel("Shape").fill("2, 4");
    await page.getByLabel("Data, as JSON").fill("[1, 2, 3]");
    await page.getByRole("alert").filter({ hasText: "3 elements, but its shape has 8" }).waitFor();
    const data = [0.5, -1, 2, 3, 4, 5, 6, 7.25];
    await page.getByLabel("Data, as JSON").fill(JSON.stringify(data));
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/^In the server .*compute_infer/).waitFor();
    const ours = JSON.parse(await page.locator("details pre").textContent());
    const theirs = await infer({ inputs: [{ name: "INPUT0", datatype: "FP32", shape: [2, 4], data }] });
    assert.deepEqual(ours.outputs, theirs.outputs);
    await keepSamples(page, model, ours.outputs);
    await look(page, "playground");
  },

  async "the playground's texts reach the model as they are"(page) {
    await go(page, "#/model/words/1/playground", "words");
    const words = ["it's", '"$HOME" `id`', "back\\slash \\n", "line\nbreak\ttab", "ü 😀 \u0001", "", "%s %d"];
    await page.getByLabel("Shape").fill(String(words.length));
    await page.getByLabel("Data, as JSON").fill(JSON.stringify(words));
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/^In the server .*compute_infer/).waitFor();
    const { outputs } = JSON.parse(await page.locator("details pre").textContent());
    assert.deepEqual(outputs[0].data, words);
    await keepSamples(page, "words", outputs);
  },

  async "the playground sends and shows what JSON cannot hold"(page) {
    await go(page, "#/model/half/1/playground", "half");
    await page.getByLabel("Data, as JSON").fill("[1.5, -2]");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("row", { name: "OUTPUT0 FP16 [2] 1.5, -2" }).waitFor();
    await keepSamples(page, "half", [
      { name: "OUTPUT0", datatype: "FP16", shape: [2], data: [1.5, -2] },
    ]);
  },

  async "numbers of now, statistics, configuration, log and metrics"(page) {
    await go(page, `#/model/${model}/1/live`, model);
    await page.getByRole("row", { name: /compute_infer/ }).waitFor();
    await page
      .getByRole("row", { name: /delay_over|preferred_size|full/ })
      .first()
      .waitFor();
    await page.locator(".chart canvas").first().waitFor();
    await look(page, "live");
    await go(page, `#/model/${model}/1/statistics`, model);
    await page.getByText(/inferences in .* executions/).waitFor();
    await look(page, "statistics");
    await go(page, `#/model/${model}/1/configuration`, model);
    await page.getByText('"max_batch_size": 8').waitFor();
    await look(page, "configuration");
    await go(page, "#/log", "Log");
    await page.getByText("Started Console at").waitFor();
    await look(page, "log");
    await go(page, "#/metrics", "Metrics");
    await page.getByLabel("Lines with").fill("nv_inference_exec_count");
    await page.getByText(`nv_inference_exec_count{model="${model}"`).waitFor();
    await look(page, "metrics");
  },

  async "models are unloaded and loaded"(page) {
    await go(page, "#/", "Overview");
    await page.getByRole("button", { name: `Unload ${model}` }).click();
    await look(page, "dialog");
    await page.getByRole("dialog").getByRole("button", { name: "Unload" }).click();
    await page.getByRole("row", { name: new RegExp(`${model} 1 UNAVAILABLE`) }).waitFor();
    await look(page, "unloaded");
    await page.getByRole("button", { name: `Load ${model}` }).click();
    await page.getByRole("row", { name: new RegExp(`${model} 1 READY`) }).waitFor();
  },
};

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const page = await open("light");
  for (const [name, check] of Object.entries(checks)) {
    await check(page).catch((error) => wrong.push(`${name}: ${error.message}`));
    console.log(`done: ${name}`);
  }
  const dark = await open("dark");
  await look(dark, "dark-overview");
  await go(dark, `#/model/${model}/1/live`, model);
  await look(dark, "dark-live");
  await go(dark, `#/model/${model}/1/timeline`, model);
  await look(dark, "dark-timeline");
  await go(dark, `#/model/${model}/1/playground`, model);
  await look(dark, "dark-playground");

  // On a phone nothing is wider than the window, tables and code included.
  const phone = await open("light", { width: 390, height: 844 });
  for (const [view, address, heading] of [
    ["overview", "#/", "Overview"],
    ...["live", "timeline", "statistics", "playground", "configuration"].map((tab) => [
      tab,
      `#/model/${model}/1/${tab}`,
      model,
    ]),
    ["log", "#/log", "Log"],
  ]) {
    await go(phone, address, heading);
    await look(phone, `phone-${view}`);
    const wide = await phone.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll("main *:not(thead *)")]
        .filter((element) => element.scrollWidth > element.clientWidth + 1)
        .filter((element) => element.clientWidth > 0 && getComputedStyle(element).overflowX !== "hidden")
        .filter((element) => getComputedStyle(element).display !== "inline")
        .map((element) => `${element.tagName}.${element.className}`),
    );
    if (wide.length > 0) wrong.push(`phone-${view}: wider than the window: ${wide.join(", ")}`);
  }

  // Without the token there is a form, and nothing else.
  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(origin);
  await stranger.getByRole("heading", { name: "This console needs its token" }).waitFor();
  const enter = async (text) => {
    await stranger.getByLabel("Token or key").fill(text);
    await stranger.getByRole("button", { name: "Open" }).click();
  };
  await enter("console-key=wrong");
  await stranger.getByRole("alert").filter({ hasText: "not one of this server" }).waitFor();
  await enter("console-key=opens it");
  await stranger.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await stranger.evaluate(() => sessionStorage.clear());
  await stranger.reload();
  await enter(link);
  await stranger.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
} finally {
  await browser.close();
}
for (const problem of wrong) console.error(problem);
process.exitCode = wrong.length > 0 ? 1 : 0;
