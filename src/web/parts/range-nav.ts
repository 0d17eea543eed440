import { html } from "htm/preact";

interface RangeNavProps {
  label: string;
  /** The range being shown. */
  text: string;
  /** Undefined if there are no older entries. */
  older: string | undefined;
  /** Undefined if there are no newer entries. */
  newer: string | undefined;
  latest: string;
}

/** Links to the adjacent ranges of a list: older on the left, newer on the right. */
export function RangeNav({ label, text, older, newer, latest }: RangeNavProps) {
  return html`<nav class="buttons range" aria-label=${label}>
    ${older !== undefined && html`<a href=${older}>← older</a>`}
    <span>${text}</span>
    ${newer !== undefined && html`<a href=${newer}>newer →</a> <a href=${latest}>latest</a>`}
  </nav>`;
}
