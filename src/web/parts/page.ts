import { signal } from "@preact/signals";
import { html } from "htm/preact";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { connection, knownChain } from "../live.ts";
import { PAGES, type PageProps } from "../page-table.ts";
import { Problem } from "./loading.ts";
import { Skeleton } from "./skeleton.ts";

const components = signal<ReadonlyMap<string, ComponentType<PageProps>>>(new Map());
const failed = signal<ReadonlySet<string>>(new Set());

async function load(name: string): Promise<void> {
  if (components.value.has(name)) return;
  try {
    const component = await PAGES[name]!.load();
    components.value = new Map(components.value).set(name, component);
  } catch {
    failed.value = new Set(failed.value).add(name);
  }
}

/** Shows a page once its code has loaded and the chain is known. */
export function Page({ name, subject }: PageProps & { name: string }) {
  useEffect(() => void load(name), [name]);
  useEffect(() => {
    document.title = `${PAGES[name]!.title(subject)} · Fanal`;
  }, [name, subject]);
  if (failed.value.has(name)) {
    return html`<${Problem}>
      This page was not loaded. Reload it: the node may have been updated.
      <button type="button" onClick=${() => location.reload()}>Reload</button>
    <//>`;
  }
  const component = components.value.get(name);
  if (component && knownChain.value) {
    const key = PAGES[name]!.keepsState ? name : `${name}/${subject}`;
    return html`<${component} key=${key} subject=${subject} />`;
  }
  return connection.value === "token required" ? null : html`<${Skeleton} />`;
}
