import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../format.ts";

/** What was asked for: nothing yet, a value, or why there is none. */
export type Loaded<T> = { value?: T; error?: string };

/**
 * What `ask` gives for as long as the key stays the same. The value of before stays until the new one is there, so that nothing
 * jumps when a page is brought up to date; a question that nobody waits for any more is given up.
 */
export function useLoaded<T>(ask: (signal: AbortSignal) => Promise<T>, key: readonly unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({});
  useEffect(() => {
    const given = new AbortController();
    ask(given.signal).then(
      (value) => given.signal.aborted || setLoaded({ value }),
      (error: unknown) => given.signal.aborted || setLoaded({ error: messageOf(error) }),
    );
    return () => given.abort();
  }, key);
  return loaded;
}

export function Problem({ children }: { children?: ComponentChildren }) {
  return html`<p class="problem" role="alert">${children}</p>`;
}

export function Show<T>({ of, children }: { of: Loaded<T>; children: (value: T) => ComponentChildren }) {
  if (of.error !== undefined) return html`<${Problem}>${of.error}<//>`;
  if (of.value === undefined) return html`<p class="waiting">Asking the node …</p>`;
  return children(of.value);
}
