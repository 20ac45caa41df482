// SPDX-License-Identifier: Apache-2.0
// Makes dist/, which is part of the tree, of src/ and page/ (tools/build_console.sh).
//
//   node build.mjs          writes dist/
//   node build.mjs --check  fails if dist/ is not what the sources give
//   node build.mjs --tests  bundles the tests into build/test/
import { build } from "esbuild";
import { readFile, readdir, mkdir, rm, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";

const PAGE = ["index.html", "favicon.svg"];
const LARGEST = 150_000;

// What dist/ is made of: tools/check_console.py computes the same number.
async function sourcesHash() {
  const files = ["build.mjs", "package-lock.json", "package.json"];
  for (const folder of ["page", "src"]) {
    for (const name of await readdir(folder)) files.push(`${folder}/${name}`);
  }
  const hash = createHash("sha256");
  for (const file of files.sort()) {
    hash.update(`${file}\n`);
    hash.update(await readFile(file));
  }
  return hash.digest("hex");
}

async function bundle() {
  const made = await build({
    entryPoints: { console: "src/main.ts" },
    outdir: "dist",
    bundle: true,
    minify: true,
    format: "iife",
    target: ["chrome111", "firefox113", "safari16.4"],
    legalComments: "inline",
    charset: "utf8",
    // Who gets the page gets the licence of what it holds.
    footer: { js: `/*! uPlot:\n${await readFile("node_modules/uplot/LICENSE", "utf8")}*/` },
    write: false,
  });
  const files = new Map(made.outputFiles.map((file) => [file.path.split("/").at(-1), file.text]));
  for (const name of PAGE) files.set(name, await readFile(`page/${name}`, "utf8"));
  files.set("sources.sha256", `${await sourcesHash()}\n`);
  const size = [...files.values()].reduce((all, text) => all + Buffer.byteLength(text), 0);
  if (size > LARGEST) throw new Error(`dist/ has ${size} bytes, more than ${LARGEST}`);
  return files;
}

async function tests() {
  await rm("build/test", { recursive: true, force: true });
  const names = (await readdir("test")).filter((name) => name.endsWith(".test.ts"));
  await build({
    entryPoints: names.map((name) => `test/${name}`),
    outdir: "build/test",
    bundle: true,
    platform: "node",
    format: "esm",
    outExtension: { ".js": ".mjs" },
  });
}

if (process.argv.includes("--tests")) {
  await tests();
} else if (process.argv.includes("--check")) {
  for (const [name, text] of await bundle()) {
    const there = await readFile(`dist/${name}`, "utf8").catch(() => "");
    if (there !== text)
      throw new Error(`dist/${name} is not what the sources give: run tools/build_console.sh`);
  }
} else {
  await rm("dist", { recursive: true, force: true });
  await mkdir("dist");
  for (const [name, text] of await bundle()) await writeFile(`dist/${name}`, text);
}
