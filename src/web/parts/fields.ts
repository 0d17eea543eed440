import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import { type Column, cellClass } from "./column.ts";

/** Shows names and values. Undefined values are omitted. */
export function Fields({ of }: { of: Record<string, ComponentChildren> }) {
  return html`<dl class="fields">
    ${Object.entries(of).map(([name, value]) => value !== undefined && html`<dt>${name}</dt><dd>${value}</dd>`)}
  </dl>`;
}

interface TableProps {
  /** Columns or their labels. */
  head: readonly (string | Column)[];
  rows: readonly (readonly ComponentChildren[])[];
  caption: string;
  empty: string;
}

export function Table({ head, rows, caption, empty }: TableProps) {
  if (rows.length === 0) return empty === "" ? null : html`<p class="waiting">${empty}</p>`;
  const columns = head.map((column) => (typeof column === "string" ? { label: column } : column));
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table>
      <thead><tr>${columns.map((column) => html`<th scope="col" class=${cellClass(column)}>${column.label}</th>`)}</tr></thead>
      <tbody>${rows.map((cells) => html`<tr>${cells.map((cell, index) => html`<td class=${cellClass(columns[index]!)}>${cell}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}
