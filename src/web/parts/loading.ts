import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../format.ts";

/** Loading state: pending, a value, or an error. */
export type Loaded<T> = { value?: T; error?: string };

/**
 * Loads a value with `ask` and reloads it when the key changes. Keeps the previous value while loading, to avoid
 * flicker, and aborts outdated requests.
 */
export function useLoaded<T>(ask: (signal: AbortSignal) => Promise<T>, key: readonly unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({});
  useEffect(() => {
    const aborting = new AbortController();
    ask(aborting.signal).then(
      (value) => aborting.signal.aborted || setLoaded({ value }),
      (error: unknown) => aborting.signal.aborted || setLoaded({ error: messageOf(error) }),
    );
    return () => aborting.abort();
  }, key);
  return loaded;
}

export function Problem({ children }: { children?: ComponentChildren }) {
  return html`<p class="problem" role="alert">${children}</p>`;
}

export function Show<T>({ of, children }: { of: Loaded<T>; children: (value: T) => ComponentChildren }) {
  if (of.error !== undefined) return html`<${Problem}>${of.error}<//>`;
  if (of.value === undefined) return html`<p class="waiting">Loading …</p>`;
  return children(of.value);
}
