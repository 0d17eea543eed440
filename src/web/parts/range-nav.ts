import { html } from "htm/preact";

interface RangeNavProps {
  label: string;
  /** Range that is shown. */
  text: string;
  /** Undefined without older entries. */
  older: string | undefined;
  /** Undefined without newer entries. */
  newer: string | undefined;
  latest: string;
}

/** Links to the neighbouring ranges of a list: older on the left, newer on the right. */
export function RangeNav({ label, text, older, newer, latest }: RangeNavProps) {
  return html`<nav class="buttons range" aria-label=${label}>
    ${older !== undefined && html`<a href=${older}>← older</a>`}
    <span>${text}</span>
    ${newer !== undefined && html`<a href=${newer}>newer →</a> <a href=${latest}>latest</a>`}
  </nav>`;
}
