import { html } from "htm/preact";

/** Placeholder for a page whose data has not loaded yet. */
export function Skeleton({ lines = 8 }: { lines?: number }) {
  return html`<div class="skeleton" aria-busy="true">
    <p class="visually-hidden">Loading …</p>
    ${Array.from({ length: lines }, () => html`<div aria-hidden="true"></div>`)}
  </div>`;
}
