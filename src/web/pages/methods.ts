import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import type { Topic } from "../../client/index.ts";
import { asCurl, asFanalCall, asViem, type DiscoveredMethod, type Parameter, paramsOf, writeValue } from "../calls.ts";
import { messageOf } from "../format.ts";
import { hasEvents, node } from "../node.ts";
import { JsonView } from "../parts/json-view.ts";
import { Problem, Show, useLoaded } from "../parts/loading.ts";

const MAX_EVENTS = 200;

export function MethodsPage({ subject }: { subject: string | undefined }) {
  const discovered = useLoaded(
    (signal) => node.call("rpc.discover", {}, { signal }) as Promise<{ methods: DiscoveredMethod[] }>,
    [],
  );
  const [filter, setFilter] = useState("");
  return html`<h1>Methods</h1>
    <${Show} of=${discovered}>
      ${({ methods }: { methods: DiscoveredMethod[] }) => {
        const chosen = methods.find(({ name }) => name === (subject ?? "getChainHead"));
        const shown = methods.filter(({ name, summary }) =>
          `${name} ${summary}`.toLowerCase().includes(filter.toLowerCase()),
        );
        return html`<div class="methods">
          <div>
            <label>Find <input type="search" value=${filter} onInput=${(event: Event) => setFilter(textOf(event))} /></label>
            <ul class="list">
              ${shown.map(({ name }) => html`<li><a href=${`#/methods/${name}`} aria-current=${name === chosen?.name ? "true" : undefined}>${name}</a></li>`)}
            </ul>
          </div>
          ${chosen ? html`<${MethodForm} key=${chosen.name} method=${chosen} />` : html`<${Problem}>The node has no method ${subject}.<//>`}
        </div>`;
      }}
    <//>`;
}

const textOf = (event: Event) => (event.currentTarget as HTMLInputElement).value;

type Outcome = { result: unknown; millis: number } | { problem: string; data: unknown } | undefined;

function MethodForm({ method: { name, summary, params, examples } }: { method: DiscoveredMethod }) {
  const example = Object.fromEntries(
    (examples?.[0]?.params ?? []).map((param) => [param.name, writeValue(param.value)]),
  );
  const [typed, setTyped] = useState<Record<string, string>>(example);
  const [outcome, setOutcome] = useState<Outcome>();
  const [isBusy, setBusy] = useState(false);
  const values = paramsOf(params, typed);
  const call = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    const began = performance.now();
    try {
      const result = await node.call(name, values);
      setOutcome({ result, millis: performance.now() - began });
    } catch (error) {
      setOutcome({
        problem: messageOf(error),
        data: error instanceof Error && "data" in error ? error.data : undefined,
      });
    }
    setBusy(false);
  };
  return html`<section aria-label=${name}>
    <h2><code>${name}</code></h2>
    <p>${summary}</p>
    ${
      name === "subscribe"
        ? html`<${Subscriptions} parameter=${params[0]} />`
        : html`<form class="call" onSubmit=${call}>
            ${params.map((param) => html`<${Field} key=${param.name} of=${param} value=${typed[param.name] ?? ""} onChange=${(text: string) => setTyped({ ...typed, [param.name]: text })} />`)}
            <button type="submit" disabled=${isBusy}>Call</button>
          </form>`
    }
    ${outcome && html`<${OutcomeView} of=${outcome} />`}
    <h2>The same call</h2>
    ${[asCurl, asViem, asFanalCall].map((write) => html`<${Snippet} text=${write(location.origin, name, values)} />`)}
  </section>`;
}

function Field({
  of: { name, description, required, schema },
  value,
  onChange,
}: {
  of: Parameter;
  value: string;
  onChange(text: string): void;
}) {
  const isLong = schema.type === "object" || schema.type === "array" || value.length > 60;
  return html`<label>
    <span><code>${name}</code>${required ? "" : " (optional)"}</span>
    ${
      isLong
        ? html`<textarea rows="4" value=${value} onInput=${(event: Event) => onChange(textOf(event))}></textarea>`
        : html`<input value=${value} autocomplete="off" onInput=${(event: Event) => onChange(textOf(event))} />`
    }
    <small>${description}</small>
  </label>`;
}

function OutcomeView({ of }: { of: NonNullable<Outcome> }) {
  if ("problem" in of) {
    return html`<h2>Error</h2><${Problem}>${of.problem}<//>${of.data !== undefined && html`<${JsonView} value=${of.data} />`}`;
  }
  return html`<h2>Answer</h2><p class="waiting">after ${of.millis.toFixed(1)} ms</p><div aria-live="polite"><${JsonView} value=${of.result} /></div>`;
}

function Snippet({ text }: { text: string }) {
  const [outcome, setOutcome] = useState("");
  const copy = async () => {
    try {
      // The clipboard is available on localhost and https pages only.
      await navigator.clipboard.writeText(text);
      setOutcome("Copied");
    } catch {
      setOutcome("The browser does not allow copying");
    }
    setTimeout(() => setOutcome(""), 2500);
  };
  return html`<pre class="snippet">${text}</pre><button type="button" onClick=${() => void copy()}>${outcome || "Copy"}</button>`;
}

interface Heard {
  number: number;
  topic: string;
  data: unknown;
}

function Subscriptions({ parameter }: { parameter: Parameter | undefined }) {
  const topics = topicsOf(parameter);
  const [chosen, setChosen] = useState<readonly string[]>(["head"]);
  const [isOn, setOn] = useState(false);
  const [isSubscribed, setSubscribed] = useState(false);
  const [heard, setHeard] = useState<readonly Heard[]>([]);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (!isOn) return;
    let count = 0;
    let isOver = false;
    const subscribed = node.subscribe(chosen as Topic[], ({ topic, data }) => {
      count++;
      const number = count;
      setHeard((before) => [{ number, topic, data }, ...before].slice(0, MAX_EVENTS));
    });
    subscribed.then(
      () => setSubscribed(!isOver),
      (error: unknown) => setProblem(messageOf(error)),
    );
    return () => {
      isOver = true;
      setSubscribed(false);
      void subscribed.then((subscription) => subscription.unsubscribe()).catch(() => {});
    };
  }, [isOn, chosen.join()]);
  if (!hasEvents)
    return html`<${Problem}>Browsers cannot send a token over a WebSocket, so this page receives no events.<//>`;
  const toggle = (topic: string) =>
    setChosen(chosen.includes(topic) ? chosen.filter((each) => each !== topic) : [...chosen, topic]);
  return html`<fieldset><legend>Topics</legend>
      ${topics.map((topic) => html`<label><input type="checkbox" checked=${chosen.includes(topic)} onChange=${() => toggle(topic)} /> ${topic} </label>`)}
    </fieldset>
    <button type="button" disabled=${chosen.length === 0} onClick=${() => setOn(!isOn)}>${isOn ? "Stop" : "Listen"}</button>
    ${isSubscribed && html`<span class="waiting"> Listening</span>`}
    ${problem !== "" && html`<${Problem}>${problem}<//>`}
    <div class="events">${heard.map(({ number, topic, data }) => html`<${JsonView} key=${number} name=${`${number} ${topic}`} value=${data} />`)}</div>`;
}

/** Finds the topics in the schema of the parameter. */
function topicsOf(parameter: Parameter | undefined): string[] {
  const found: string[] = [];
  const look = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      if (key === "enum" && Array.isArray(value)) found.push(...value.map(String));
      else look(value);
    }
  };
  look(parameter?.schema);
  return [...new Set(found)];
}
