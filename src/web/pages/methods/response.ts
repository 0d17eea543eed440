import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { byteSize, messageOf } from "../../format.ts";
import { CopyButton } from "../../parts/copy-button.ts";
import { type Folding, JsonView } from "../../parts/json-view.ts";
import { Problem } from "../../parts/loading.ts";

interface Failure {
  problem: string;
  code: unknown;
  data: unknown;
  millis: number;
}

export type Outcome = { result: unknown; millis: number } | Failure | undefined;

export function failureOf(error: unknown, millis: number): Failure {
  const { code, data } = error as { code?: unknown; data?: unknown };
  return { problem: messageOf(error), code, data, millis };
}

/** Shows a response along with its duration and size. */
export function Response({ of, method }: { of: NonNullable<Outcome>; method: string }) {
  const millis = `${of.millis.toFixed(1)} ms`;
  if ("problem" in of) {
    return html`<h2>Error</h2>
      <${Problem}>${of.problem}<//>
      <p class="waiting">${of.code !== undefined && `code ${of.code} · `}${millis}</p>
      ${of.data !== undefined && html`<${JsonView} value=${of.data} />`}`;
  }
  return html`<section aria-labelledby="response">
    <h2 id="response">Response</h2>
    <${Result} key=${of.millis} result=${of.result} millis=${millis} method=${method} />
  </section>`;
}

function Result({ result, millis, method }: { result: unknown; millis: string; method: string }) {
  const [folding, setFolding] = useState<Folding>("small");
  const json = JSON.stringify(result);
  const isFoldable = typeof result === "object" && result !== null && Object.keys(result).length > 0;
  return html`<div class="buttons">
      <span role="status">${byteSize(new TextEncoder().encode(json).length)} in ${millis}</span>
      <${CopyButton} text=${json} label="Copy response" />
      ${
        isFoldable &&
        html`<button type="button" onClick=${() => setFolding("all")}>Unfold all</button>
          <button type="button" onClick=${() => setFolding("none")}>Fold all</button>`
      }
    </div>
    <${JsonView} key=${folding} value=${result} folding=${folding} rootOf=${/_states_(stateId_)?root$/.test(method) ? "state" : "block"} />`;
}
