// SPDX-License-Identifier: Apache-2.0
// The playground: a request made from the model's metadata, its answer and timing, and the same
// request for other clients.
import type { ModelMetadata, RecordedRequest, TensorMetadata } from "./answers.ts";
import { modelPath } from "./api.ts";
import { answerElement } from "./playground_answer.ts";
import { curlSample, goSample, pythonSample, type Target } from "./code_samples.ts";
import { el } from "./dom.ts";
import { duration } from "./format.ts";
import {
  messageOf,
  fill,
  inferPath,
  initialShape,
  problem,
  type Filling,
  type InputForm,
  type RequestForm,
} from "./request_builder.ts";
import { modelHash } from "./route.ts";
import type { Context, View } from "./view.ts";

const LANGUAGES = ["curl", "Python", "Go"] as const;
type Language = (typeof LANGUAGES)[number];
const RECORD_TRIES = 5;
const RECORD_WAIT_MS = 100;

interface InputFields {
  known: TensorMetadata;
  shape: HTMLInputElement;
  data: HTMLTextAreaElement;
}

export class PlaygroundView implements View {
  readonly element = el("div", { class: "playground" });
  private readonly fields: InputFields[] = [];
  private outputs: TensorMetadata[] = [];
  private readonly id = el("input", {
    id: "play-id",
    value: newId(),
    autocomplete: "off",
    spellcheck: "false",
    input: () => this.showCode(),
  });
  private readonly inputs = el("div");
  private readonly problem = el("p", { role: "alert", class: "problem" });
  private readonly answer = el("div", { class: "answer", "aria-live": "polite" });
  private readonly code = el("pre", {
    tabindex: 0,
    role: "region",
    "aria-label": "The same request in another language",
  });
  private readonly send = el("button", { type: "submit", class: "primary" }, "Send");
  private language: Language = "curl";

  constructor(
    private readonly context: Context,
    private readonly model: string,
    private readonly version: string,
  ) {
    const languages = el("fieldset", { class: "languages" }, el("legend", {}, "The same request in"));
    for (const name of LANGUAGES) {
      const choose = () => ((this.language = name), this.showCode());
      languages.append(
        el(
          "label",
          {},
          el("input", {
            type: "radio",
            name: "language",
            checked: name === this.language,
            change: choose,
          }),
          name,
        ),
      );
    }
    languages.append(el("button", { type: "button", click: () => void this.copy() }, "Copy"));
    this.element.append(
      el(
        "form",
        { class: "request", submit: (event: Event) => (event.preventDefault(), void this.infer()) },
        el("h2", {}, "Request"),
        el("p", { class: "controls" }, el("label", { for: "play-id" }, "Id"), this.id),
        this.inputs,
        this.problem,
        el("p", { class: "controls" }, this.send),
      ),
      el("section", { "aria-label": "Answer" }, el("h2", {}, "Answer"), this.answer),
      el("section", { class: "code", "aria-label": "Code" }, languages, this.code),
    );
    this.answer.append(el("p", { class: "muted" }, "Nothing has been sent yet."));
    context.api
      .get<ModelMetadata>(modelPath(model, version))
      .then((metadata) => this.build(metadata))
      .catch((error: Error) => (this.problem.textContent = error.message));
  }

  update(): void {}

  private build(metadata: ModelMetadata): void {
    this.outputs = metadata.outputs;
    metadata.inputs.forEach((known, i) => {
      const shape = el("input", {
        id: `shape-${i}`,
        value: initialShape(known).join(", "),
        autocomplete: "off",
        input: () => this.showCode(),
      });
      const data = el("textarea", {
        id: `data-${i}`,
        rows: 4,
        spellcheck: "false",
        input: () => this.showCode(),
      });
      const fields = { known, shape, data };
      const fillings = el("span", { class: "actions" });
      for (const filling of ["zeros", "ones", "count", "random"] as const) {
        fillings.append(
          el(
            "button",
            {
              type: "button",
              "aria-label": `Fill ${known.name}: ${filling}`,
              click: () => this.fill(fields, filling),
            },
            filling,
          ),
        );
      }
      this.fields.push(fields);
      this.inputs.append(
        el(
          "fieldset",
          {},
          el("legend", {}, el("b", {}, known.name), ` ${known.datatype} [${known.shape.join(", ")}]`),
          el("p", { class: "controls" }, el("label", { for: `shape-${i}` }, "Shape"), shape, fillings),
          el("label", { for: `data-${i}` }, "Data, as JSON"),
          data,
        ),
      );
      data.value = fill(known.datatype, initialShape(known), "count");
    });
    this.showCode();
  }

  private fill(fields: InputFields, filling: Filling): void {
    fields.data.value = fill(fields.known.datatype, shapeOf(fields.shape.value), filling);
    this.showCode();
  }

  private form(): RequestForm {
    const inputs = this.fields.map(({ known, shape, data }): InputForm => ({
      name: known.name,
      datatype: known.datatype,
      shape: shapeOf(shape.value),
      data: data.value,
    }));
    return {
      model: this.model,
      version: this.version,
      id: this.id.value.trim(),
      inputs,
      outputs: this.outputs,
    };
  }

  // The first thing that is wrong with the request.
  private wrong(form: RequestForm): string | undefined {
    return form.inputs
      .map((input, i) => problem(input, this.fields[i]?.known))
      .find((text) => text !== undefined);
  }

  private showCode(): void {
    const form = this.form();
    const wrong = this.wrong(form);
    this.problem.textContent = wrong ?? "";
    this.send.disabled = wrong !== undefined;
    if (wrong !== undefined) return;
    const samples = { curl: curlSample, Python: pythonSample, Go: goSample };
    this.code.textContent = samples[this.language](form, this.target());
  }

  // Other clients use the HTTP port, if there is one.
  private target(): Target {
    const { http_port, http_tls } = this.context.settings;
    return { tls: http_tls, host: http_port > 0 ? `${location.hostname}:${http_port}` : location.host };
  }

  private async copy(): Promise<void> {
    await navigator.clipboard.writeText(this.code.textContent ?? "");
    this.context.announce(`The request in ${this.language} is in the clipboard.`);
  }

  private async infer(): Promise<void> {
    const form = this.form();
    this.send.disabled = true;
    const begin = performance.now();
    try {
      const answer = await this.context.api.infer(inferPath(form), messageOf(form));
      const ns = (performance.now() - begin) * 1e6;
      const address = modelHash({ name: this.model, version: this.version }, "timeline", form.id);
      this.answer.replaceChildren(
        el(
          "p",
          {},
          `Answered in ${duration(ns)}, as the browser saw it. `,
          form.id !== "" && el("a", { href: address }, "Find it in the timeline"),
        ),
        ...answerElement(answer),
      );
      if (form.id !== "") await this.addRecord(form.id);
      this.id.value = newId();
    } catch (error) {
      this.answer.replaceChildren(el("p", { class: "problem" }, (error as Error).message));
    } finally {
      this.showCode();
    }
  }

  // Where its time went in the server. The record may come shortly after the answer.
  private async addRecord(id: string): Promise<void> {
    for (let i = 0; i < RECORD_TRIES; i++) {
      const { requests } = await this.context.api.get<{ requests: RecordedRequest[] }>(
        `/v2/nereid/requests/${encodeURIComponent(id)}`,
      );
      const record = requests.find((request) => request.model === this.model);
      if (record !== undefined) {
        const phases = Object.entries(record.phases_ns).map(([phase, ns]) => `${phase} ${duration(ns)}`);
        this.answer.firstElementChild?.after(
          el("p", { class: "muted" }, `In the server ${duration(record.latency_ns)}: ${phases.join(", ")}.`),
        );
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, RECORD_WAIT_MS));
    }
  }
}

function shapeOf(text: string): number[] {
  const parts = text.split(/[\s,x×]+/).filter((part) => part !== "");
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : NaN));
}

function newId(): string {
  return `console-${crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36) ?? "0"}`;
}
