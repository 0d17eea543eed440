import { html } from "htm/preact";
import { useMemo, useState } from "preact/hooks";
import { type DiscoveredMethod, namedParamsOf, type Parameter, paramsOf } from "../../calls.ts";
import { useChain } from "../../live.ts";
import { exampleFor, exampleText } from "../../method-inputs.ts";
import { node } from "../../node.ts";
import { JsonView } from "../../parts/json-view.ts";
import { EventConsole } from "./events.ts";
import { Field } from "./field.ts";
import { failureOf, type Outcome, Response } from "./response.ts";
import { Snippets } from "./snippets.ts";

/** Form for a method, prefilled with its example, along with the same call as code. */
export function MethodForm({ method }: { method: DiscoveredMethod }) {
  const { name, summary, params, externalDocs, examples } = method;
  const original = method["x-alias-of"];
  return html`<section aria-label=${name}>
    <h2><code>${name}</code></h2>
    <p>${summary}</p>
    ${original !== undefined && html`<p class="waiting">Alias of <a href=${`#/methods/${original}`}>${original}</a>.</p>`}
    ${externalDocs?.description !== undefined && html`<p class="waiting">${externalDocs.description}</p>`}
    ${name === "subscribe" ? html`<${EventConsole} parameter=${params[0]} />` : html`<${Call} method=${method} />`}
    <${ExampleResult} of=${examples?.[0]} />
  </section>`;
}

function Call({ method: { name, params, examples } }: { method: DiscoveredMethod }) {
  const example = useExample(name, params, examples);
  const [edited, setEdited] = useState<Record<string, string>>({});
  const [outcome, setOutcome] = useState<Outcome>();
  const [isBusy, setBusy] = useState(false);
  const required = Object.fromEntries(
    params.flatMap((param) => (param.required && example[param.name] ? [[param.name, example[param.name]!]] : [])),
  );
  const typed = { ...required, ...edited };
  const values = paramsOf(params, typed);
  const call = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    const began = performance.now();
    try {
      const result = await node.call(name, values);
      setOutcome({ result, millis: performance.now() - began });
    } catch (error) {
      setOutcome(failureOf(error, performance.now() - began));
    }
    setBusy(false);
  };
  const isPartial = Object.entries(example).some(([param, text]) => typed[param] !== text);
  return html`<form class="call" onSubmit=${call}>
      ${params.map(
        (param) =>
          html`<${Field} key=${param.name} of=${param} value=${typed[param.name] ?? ""} example=${example[param.name]}
            onChange=${(text: string) => setEdited({ ...edited, [param.name]: text })} />`,
      )}
      <p class="buttons">
        <button class="primary" type="submit" disabled=${isBusy}>Call</button>
        ${isPartial && html`<button type="button" onClick=${() => setEdited(example)}>Fill in the example</button>`}
      </p>
    </form>
    <div role="status">${isBusy && "Waiting for the response …"}</div>
    ${outcome && html`<${Response} of=${outcome} method=${name} />`}
    <${Snippets} method=${name} values=${values} named=${namedParamsOf(params, typed)} />`;
}

/** Returns the example as text by parameter. The example stays the same while the chain advances. */
function useExample(
  method: string,
  params: readonly Parameter[],
  examples: DiscoveredMethod["examples"],
): Record<string, string> {
  const { head, time, slotsPerEpoch } = useChain();
  return useMemo(() => {
    const position = {
      slot: time.slot,
      epoch: Math.floor(time.slot / slotsPerEpoch),
      headRoot: head.head_block_root,
    };
    const recorded = examples?.[0]?.params ?? [];
    return Object.fromEntries(
      recorded.map(({ name, value }) => {
        const schema = params.find((param) => param.name === name)?.schema;
        return [name, exampleText(exampleFor(method, name, value, position), schema)];
      }),
    );
  }, [method]);
}

function ExampleResult({ of: example }: { of: NonNullable<DiscoveredMethod["examples"]>[number] | undefined }) {
  if (example?.result === undefined) return null;
  return html`<details class="example"><summary>Example of a result</summary><${JsonView} value=${example.result.value} /></details>`;
}
