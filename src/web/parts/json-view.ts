import { html } from "htm/preact";
import { useState } from "preact/hooks";

/** Entries of a list or object shown initially. */
const SHOWN_ENTRIES = 100;
/** Lists and objects with fewer entries are expanded initially. */
const OPEN_BELOW_ENTRIES = 12;

/** Shows a JSON value with collapsible lists and objects. */
export function JsonView({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const key = name !== undefined && html`<span class="key">${name}</span>: `;
  if (typeof value !== "object" || value === null) {
    return html`<div class=${depth === 0 ? "json" : "entry"}>${key}<code>${JSON.stringify(value)}</code></div>`;
  }
  const entries = Object.entries(value);
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  return html`<div class=${depth === 0 ? "json" : "entry"}>
    <${Folded} key=${name} title=${html`${key}<code>${size}</code>`} entries=${entries} depth=${depth} />
  </div>`;
}

interface FoldedProps {
  title: unknown;
  entries: readonly (readonly [name: string, value: unknown])[];
  depth: number;
}

/** Renders entries lazily, so that responses of any size can be shown. */
function Folded({ title, entries, depth }: FoldedProps) {
  const [isOpen, setOpen] = useState(depth === 0 || (depth < 4 && entries.length < OPEN_BELOW_ENTRIES));
  const [shown, setShown] = useState(SHOWN_ENTRIES);
  return html`<details open=${isOpen} onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
    <summary>${title}</summary>
    ${isOpen && entries.slice(0, shown).map(([name, value]) => html`<${JsonView} key=${name} name=${name} value=${value} depth=${depth + 1} />`)}
    ${
      isOpen &&
      entries.length > shown &&
      html`<button type="button" onClick=${() => setShown(shown + SHOWN_ENTRIES)}>
        ${entries.length - shown} more
      </button>`
    }
  </details>`;
}
