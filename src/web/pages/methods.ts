import { html } from "htm/preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DiscoveredMethod } from "../calls.ts";
import { node } from "../node.ts";
import { Problem, Show, useLoaded } from "../parts/loading.ts";
import { MethodForm } from "./methods/form.ts";

const FIRST_METHOD = "getChainHead";
/** Height of the list's faded ends, as defined in the style sheet. */
const FADE_PIXELS = 24;

export function MethodsPage({ subject = FIRST_METHOD }: { subject: string | undefined }) {
  const discovered = useLoaded(
    (signal) => node.call("rpc.discover", {}, { signal }) as Promise<{ methods: DiscoveredMethod[] }>,
    [],
  );
  return html`<h1>Methods</h1>
    <${Show} of=${discovered}>
      ${({ methods }: { methods: DiscoveredMethod[] }) => {
        const chosen = methods.find(({ name }) => name === subject);
        return html`<div class="methods">
          <${MethodList} methods=${methods} chosen=${chosen} />
          ${chosen ? html`<${MethodForm} key=${chosen.name} method=${chosen} />` : html`<${Problem}>The node has no method ${subject}.<//>`}
        </div>`;
      }}
    <//>`;
}

interface MethodListProps {
  methods: readonly DiscoveredMethod[];
  chosen: DiscoveredMethod | undefined;
}

/** Lists methods by subject. Aliases appear only in search results. */
function MethodList({ methods, chosen }: MethodListProps) {
  const [typed, setTyped] = useState("");
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = methods.filter((method) => words.every((word) => textOf(method).includes(word)));
  const groups = Map.groupBy(words.length === 0 ? found.filter(isOriginal) : found, groupOf);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => showMarked(list.current), [chosen?.name]);
  const openFirst = (event: Event) => {
    event.preventDefault();
    const first = found.find(({ name }) => name.toLowerCase() === typed.trim().toLowerCase()) ?? found[0];
    if (words.length > 0 && first) location.hash = `#/methods/${first.name}`;
  };
  return html`<nav class="method-list" aria-label="Methods">
    <form role="search" onSubmit=${openFirst}>
      <label>Find a method
        <input type="search" value=${typed} autocomplete="off" spellcheck=${false} onInput=${(event: Event) => setTyped((event.currentTarget as HTMLInputElement).value)} />
      </label>
    </form>
    <p class="waiting" role="status">${words.length > 0 && (found.length === 0 ? "No method matches." : `${found.length} found`)}</p>
    <div class="groups" ref=${list}>
      ${Array.from(
        groups,
        ([
          group,
          members,
        ]) => html`<details key=${`${group} ${words.length > 0}`} open=${words.length > 0 || (chosen && groupOf(chosen) === group)}>
          <summary>${group} <span class="waiting">${members.length}</span></summary>
          <ul>
            ${members.map(({ name, summary }) => html`<li key=${name}><a href=${`#/methods/${name}`} title=${summary} aria-current=${name === chosen?.name ? "page" : undefined}>${breakable(name)}</a></li>`)}
          </ul>
        </details>`,
      )}
    </div>
  </nav>`;
}

/**
 * Scrolls a list to its marked item, unless that item is visible. Unlike `scrollIntoView`, this does not scroll the
 * page.
 */
function showMarked(list: HTMLElement | null): void {
  const marked = list?.querySelector<HTMLElement>("[aria-current]");
  if (!list || !marked) return;
  const { offsetTop: top, offsetHeight: height } = marked;
  const start = list.scrollTop + FADE_PIXELS;
  const end = list.scrollTop + list.clientHeight - FADE_PIXELS;
  if (top < start || top + height > end) list.scrollTop = top - list.clientHeight / 2;
}

/** Allows line breaks after underscores in a name. */
const breakable = (name: string) => name.split(/(?<=_)/).map((part) => html`${part}<wbr />`);
const isOriginal = (method: DiscoveredMethod) => method["x-alias-of"] === undefined;
const groupOf = ({ tags }: DiscoveredMethod) => tags?.[0]?.name ?? "Others";
const textOf = (method: DiscoveredMethod) => `${method.name} ${method.summary} ${groupOf(method)}`.toLowerCase();
