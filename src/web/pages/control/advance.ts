import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { perform } from "./perform.ts";

/** Ways to advance, each with its parameters for the number that was entered. */
const WAYS: Readonly<Record<string, (count: number) => Readonly<Record<string, unknown>>>> = {
  slots: (slots) => ({ slots }),
  epochs: (epochs) => ({ epochs }),
  "until payload": () => ({ until: "payload" }),
  "until empty": () => ({ until: "empty" }),
  "until builder paid": () => ({ until: "builder_paid" }),
  "until justified": () => ({ until: "justified" }),
  "until finalized": () => ({ until: "finalized" }),
};

/** Primary action of the page: runs slots with all validator duties. */
export function Advance() {
  const [count, setCount] = useState("1");
  const [way, setWay] = useState("slots");
  const [isBusy, setBusy] = useState(false);
  const isCounted = !way.startsWith("until");
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    await perform("dev_advance", WAYS[way]!(Number(count)));
    setBusy(false);
  };
  return html`<form class="advance" onSubmit=${submit}>
    ${
      isCounted &&
      html`<input type="number" min="1" max="65536" required aria-label="Number" value=${count}
        onInput=${(event: Event) => setCount((event.currentTarget as HTMLInputElement).value)} />`
    }
    <select aria-label="Unit" value=${way} onChange=${(event: Event) => setWay((event.currentTarget as HTMLSelectElement).value)}>
      ${Object.keys(WAYS).map((name) => html`<option value=${name}>${count === "1" ? name.replace(/s$/, "") : name}</option>`)}
    </select>
    <button class="primary" type="submit" disabled=${isBusy}>${isBusy ? "Advancing …" : "Advance"}</button>
  </form>`;
}
