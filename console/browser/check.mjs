// Drives the console in Chromium while a server is under load, and fails if the page is wrong.
//
//   node check.mjs LINK MODEL BROWSER [FOLDER]
//
// LINK: what the server has printed. MODEL: takes INPUT0, FP32 [-1,4], and echoes it; nobody else uses
// it. There is a model `half`, which does the same with FP16 [2], and --model-control-mode=explicit.
// FOLDER: pictures of the views go there.
// tests/conformance/test_console_page.py starts both.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const CLIENTS = 8;
const REQUESTS = 40; // of each client

const [link, model, executablePath, folder] = process.argv.slice(2);
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
async function infer(body) {
  const answer = await fetch(`http://127.0.0.1:${http_port}/v2/models/${model}/infer`, {
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

async function open(colorScheme) {
  const context = await browser.newContext({ colorScheme, viewport: { width: 1440, height: 900 } });
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

const checks = {
  async "the token leaves the address, and models have their state"(page) {
    assert.equal(new URL(page.url()).hash, "#/");
    await page.getByRole("row", { name: new RegExp(`${model} 1 READY`) }).waitFor();
  },

  async "the timeline shows the batches and requests that the metrics count"(page) {
    await go(page, `#/model/${model}/1/timeline`, model);
    const shown = page.getByTestId("shown");
    await shown.filter({ hasText: "0 batches" }).waitFor();
    await load();
    for (let i = 0; i < 6; i++) await page.getByRole("button", { name: "Zoom out" }).click();
    const batches = await counter("nv_inference_exec_count");
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
    for (const [language, word] of [
      ["curl", "curl "],
      ["Python", "tritonclient"],
      ["Go", "net/http"],
    ]) {
      await page.getByLabel(language, { exact: true }).check();
      await page.locator(".code pre").filter({ hasText: word }).waitFor();
    }
    await look(page, "playground");
  },

  async "the playground sends and shows what JSON cannot hold"(page) {
    await go(page, "#/model/half/1/playground", "half");
    await page.getByLabel("Data, as JSON").fill("[1.5, -2]");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("row", { name: "OUTPUT0 FP16 [2] 1.5, -2" }).waitFor();
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

  // Without the token there is a form, and nothing else.
  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(origin);
  await stranger.getByRole("heading", { name: "This console needs its token" }).waitFor();
  await stranger.getByLabel("Token").fill(link);
  await stranger.getByRole("button", { name: "Open" }).click();
  await stranger.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
} finally {
  await browser.close();
}
for (const problem of wrong) console.error(problem);
process.exitCode = wrong.length > 0 ? 1 : 0;
