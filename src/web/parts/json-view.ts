import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { type JsonContext, pageOf } from "../json-links.ts";

/** Number of list or object entries shown initially. */
const SHOWN_ENTRIES = 100;
/** Lists and objects with fewer entries are expanded initially. */
const OPEN_BELOW_ENTRIES = 12;
const OPEN_LEVELS = 4;

/**
 * Determines which lists and objects are expanded initially. `closed` folds the whole value, `none` only its members.
 */
export type Folding = "small" | "none" | "all" | "closed";

interface JsonViewProps {
  value: unknown;
  name?: string;
  folding?: Folding;
  /** Type of the object that a member named `root` refers to. */
  rootOf?: JsonContext["rootOf"];
}

/** Shows a JSON value with collapsible lists and objects. Roots and indices link to their pages. */
export function JsonView({ value, name, folding = "small", rootOf = "block" }: JsonViewProps) {
  const context = { name: name ?? "", isListItem: false, siblings: {}, rootOf };
  return html`<div class="json"><${Value} value=${value} label=${name} context=${context} depth=${0} folding=${folding} /></div>`;
}

interface ValueProps {
  value: unknown;
  label: string | undefined;
  context: JsonContext;
  depth: number;
  folding: Folding;
}

function Value({ value, label, context, depth, folding }: ValueProps) {
  const key = label !== undefined && html`<span class="key">${label}</span>: `;
  if (typeof value !== "object" || value === null) {
    const page = pageOf(value, context);
    const text = html`<code>${JSON.stringify(value)}</code>`;
    return html`${key}${page === undefined ? text : html`<a href=${page}>${text}</a>`}`;
  }
  const entries = Object.entries(value);
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0) return html`${key}<code>${Array.isArray(value) ? "[]" : "{}"}</code>`;
  const contextOf = (name: string): JsonContext =>
    Array.isArray(value) ? { ...context, isListItem: true } : { ...context, name, isListItem: false, siblings: value };
  return html`<${Folded} title=${html`${key}<code>${size}</code>`} entries=${entries} contextOf=${contextOf} depth=${depth} folding=${folding} />`;
}

interface FoldedProps {
  title: unknown;
  entries: readonly (readonly [name: string, value: unknown])[];
  contextOf: (name: string) => JsonContext;
  depth: number;
  folding: Folding;
}

/** Renders entries lazily, so that responses of any size can be shown. */
function Folded({ title, entries, contextOf, depth, folding }: FoldedProps) {
  const isSmall = depth < OPEN_LEVELS && entries.length < OPEN_BELOW_ENTRIES;
  const [isOpen, setOpen] = useState(
    folding !== "closed" && (depth === 0 || folding === "all" || (folding === "small" && isSmall)),
  );
  const [shown, setShown] = useState(SHOWN_ENTRIES);
  return html`<details open=${isOpen} onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
    <summary>${title}</summary>
    ${
      isOpen &&
      entries.slice(0, shown).map(
        ([name, value]) => html`<div class="entry" key=${name}>
            <${Value} value=${value} label=${name} context=${contextOf(name)} depth=${depth + 1} folding=${folding} />
          </div>`,
      )
    }
    ${
      isOpen &&
      entries.length > shown &&
      html`<button type="button" onClick=${() => setShown(shown + SHOWN_ENTRIES)}>
        ${entries.length - shown} more
      </button>`
    }
  </details>`;
}
