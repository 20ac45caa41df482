// SPDX-License-Identifier: Apache-2.0
// View: what fills the main part of the page. Made when its address is opened, ended when it is left.
import type { Api } from "./api.ts";
import type { ConsoleSettings, Live } from "./answers.ts";
import type { History } from "./history.ts";

export interface Context {
  readonly api: Api;
  readonly history: History;
  readonly settings: ConsoleSettings;
  live: Live;
  // Says something to everybody, also to screen readers.
  announce(text: string): void;
}

export interface View {
  readonly element: HTMLElement;
  // A new live answer is there.
  update(): void;
  end?(): void;
}
