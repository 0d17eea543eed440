import { signal } from "@preact/signals";
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { readValue } from "../calls.ts";
import { messageOf } from "../format.ts";
import { chainTime, isDevChain, refresh } from "../live.ts";
import { node } from "../node.ts";
import { JsonView } from "../parts/json-view.ts";

interface Deed {
  number: number;
  call: string;
  result?: unknown;
  problem?: string;
}

const MAX_DEEDS = 50;
/** Actions of this page, newest first. Kept while other pages are shown. */
const deeds = signal<readonly Deed[]>([]);
const snapshots = signal<readonly string[]>([]);

async function perform(method: string, params: object): Promise<unknown> {
  const call = `${method}(${Object.entries(params)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(", ")})`;
  const note = (outcome: { result: unknown } | { problem: string }) => {
    const number = (deeds.value[0]?.number ?? 0) + 1;
    deeds.value = [{ number, call, ...outcome }, ...deeds.value].slice(0, MAX_DEEDS);
  };
  try {
    const result = await node.call(method, params);
    note({ result });
    await refresh();
    return result;
  } catch (error) {
    note({ problem: messageOf(error) });
    return undefined;
  }
}

/** Form field: parameter name, label and initial value. */
interface Field {
  name: string;
  label: string;
  first?: string;
  wide?: true;
}

interface ActionProps {
  label: string;
  method: string;
  fields?: readonly Field[];
  fixed?: object;
  onDone?: (result: unknown) => void;
}

/** Form that calls a method with its fields as parameters. Empty fields are omitted. */
function Action({ label, method, fields = [], fixed = {}, onDone }: ActionProps) {
  const [typed, setTyped] = useState<Record<string, string>>(
    Object.fromEntries(fields.map(({ name, first = "" }) => [name, first])),
  );
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    const given = Object.entries(typed).filter(([, text]) => text.trim() !== "");
    setBusy(true);
    const result = await perform(method, {
      ...fixed,
      ...Object.fromEntries(given.map(([name, text]) => [name, readValue(text.trim())])),
    });
    setBusy(false);
    if (result !== undefined) onDone?.(result);
  };
  return html`<form onSubmit=${submit}>
    <button type="submit" disabled=${isBusy}>${label}</button>
    ${fields.map(
      ({
        name,
        label: what,
        wide,
      }) => html`<label>${what} <input class=${wide ? "wide" : ""} value=${typed[name]} autocomplete="off"
        onInput=${(event: Event) => setTyped({ ...typed, [name]: (event.currentTarget as HTMLInputElement).value })} /></label>`,
    )}
  </form>`;
}

export function ControlPage() {
  if (!isDevChain.value) {
    return html`<h1>Control</h1><p>This node follows a network, whose chain cannot be controlled. <code>fanal dev</code> starts one that can be controlled.</p>`;
  }
  const speed = chainTime.value?.speed ?? 0;
  return html`<h1>Control</h1>
    <p>Time ${speed === 0 ? "is paused" : speed === 1 ? "runs in real time" : `runs at ${speed} times real time`}, in slot ${chainTime.value?.slot}.</p>
    <div class="control">
      <fieldset><legend>Time</legend>
        <${Action} label="Advance" method="dev_advance" fields=${[{ name: "slots", label: "slots", first: "1" }]} />
        <${Action} label="Advance" method="dev_advance" fields=${[{ name: "epochs", label: "epochs", first: "1" }]} />
        <${Action} label="Advance until finalized" method="dev_advance" fixed=${{ until: "finalized" }} />
        <${Action} label="Skip" method="dev_skip" fields=${[{ name: "slots", label: "slots without blocks", first: "1" }]} />
        <${Action} label="Pause" method="dev_pause" />
        <${Action} label="Resume" method="dev_resume" />
        <${Action} label="Set speed" method="dev_setSpeed" fields=${[{ name: "speed", label: "times", first: "1" }]} />
      </fieldset>
      <fieldset><legend>Validators</legend>
        <${Action} label="Only these online" method="dev_setValidators" fields=${[{ name: "online", label: "all, none, 0.6 or [0,1]", first: "all", wide: true }]} />
        <${Action} label="Slash" method="dev_slash" fields=${[{ name: "validators", label: "validator" }, { name: "kind", label: "as", first: "proposer" }]} />
        <${Action} label="Exit" method="dev_exit" fields=${[{ name: "validator", label: "validator" }]} />
        <${Action} label="Deposit" method="dev_deposit" fields=${[{ name: "count", label: "new validators", first: "1" }]} />
        <${Action} label="Withdraw" method="dev_withdraw" fields=${[{ name: "validator", label: "validator" }, { name: "amount", label: "Gwei" }]} />
      </fieldset>
      <fieldset><legend>Branches</legend>
        <${Action} label="Reorganise" method="dev_reorg" fields=${[{ name: "depth", label: "blocks", first: "1" }]} />
        <${Action} label="Grow two branches" method="dev_fork" fields=${[{ name: "slots", label: "slots", first: "2" }, { name: "votes", label: "votes", first: "split" }]} />
        <${Action} label="Delay blocks" method="dev_delayBlocks" fields=${[{ name: "slots", label: "slots", first: "1" }]} />
      </fieldset>
      <fieldset><legend>Snapshots</legend>
        <${Action} label="Take a snapshot" method="dev_snapshot" onDone=${(id: unknown) => {
          snapshots.value = [String(id), ...snapshots.value];
        }} />
        ${snapshots.value.map(
          (id) =>
            html`<${Action} key=${id} label=${`Revert to ${id}`} method="dev_revert" fixed=${{ id }} onDone=${() => {
              // Reverting also deletes later snapshots.
              snapshots.value = snapshots.value.filter((other) => Number(other) < Number(id));
            }} />`,
        )}
        <${Action} label="Revert to" method="dev_revert" fields=${[{ name: "id", label: "snapshot" }]} />
      </fieldset>
    </div>
    <h2>What was done</h2>
    <div aria-live="polite">
      ${deeds.value.length === 0 && html`<p class="waiting">Nothing yet.</p>`}
      ${deeds.value.map(
        ({ number, call, result, problem }) => html`<div key=${number}>
          <code>${call}</code>
          ${problem === undefined ? html`<${JsonView} value=${result} />` : html`<p class="problem" role="alert">${problem}</p>`}
        </div>`,
      )}
    </div>`;
}
