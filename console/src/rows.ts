// SPDX-License-Identifier: Apache-2.0
// Rows of a table that is shown again and again. Only cells that have changed are replaced, so that
// focus, selection and what a screen reader reads stay where they are.

export interface Row {
  key: string;
  cells: (Node | string)[];
  numbers?: readonly number[]; // positions of cells that are aligned as numbers
}

export function syncRows(body: HTMLTableSectionElement, rows: Row[]): void {
  const old = new Map<string, HTMLTableRowElement>();
  for (const row of body.rows) old.set(row.dataset.key ?? "", row);
  rows.forEach((row, at) => {
    const element = old.get(row.key) ?? document.createElement("tr");
    old.delete(row.key);
    element.dataset.key = row.key;
    const there = body.rows[at];
    if (there !== element) body.insertBefore(element, there ?? null);
    row.cells.forEach((content, index) => syncCell(element, index, content, row));
    while (element.cells.length > row.cells.length) element.deleteCell(-1);
  });
  for (const row of old.values()) row.remove();
}

function syncCell(row: HTMLTableRowElement, index: number, content: Node | string, of: Row): void {
  let cell = row.cells[index];
  if (cell === undefined) {
    // The first cell names the row.
    cell = document.createElement(index === 0 ? "th" : "td");
    if (index === 0) cell.scope = "row";
    if (of.numbers?.includes(index)) cell.className = "number";
    // Where there is no room for the head of the table, each cell says what it is (style.css).
    const title = row.closest("table")?.tHead?.rows[0]?.cells[index]?.textContent;
    if (title) cell.dataset.label = title;
    row.append(cell);
  }
  if (typeof content === "string") {
    if (cell.childElementCount > 0 || cell.textContent !== content) cell.textContent = content;
    return;
  }
  const now = cell.firstChild;
  if (now === null || cell.childNodes.length !== 1 || !now.isEqualNode(content)) {
    cell.replaceChildren(content);
  }
}
