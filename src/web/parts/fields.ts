import { html } from "htm/preact";
import type { ComponentChildren } from "preact";

/** Shows names with their values. Undefined values are omitted. */
export function Fields({ of }: { of: Record<string, ComponentChildren> }) {
  return html`<dl class="fields">
    ${Object.entries(of).map(([name, value]) => value !== undefined && html`<dt>${name}</dt><dd>${value}</dd>`)}
  </dl>`;
}

interface TableProps {
  head: readonly string[];
  rows: readonly (readonly ComponentChildren[])[];
  caption: string;
  empty: string;
}

export function Table({ head, rows, caption, empty }: TableProps) {
  if (rows.length === 0) return empty === "" ? null : html`<p class="waiting">${empty}</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}>
    <table>
      <thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}
