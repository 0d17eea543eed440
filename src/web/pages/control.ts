import { html } from "htm/preact";
import { grouped } from "../format.ts";
import { chainTime, fork, isDevChain } from "../live.ts";
import { Action, type ActionField } from "./control/action.ts";
import { Advance } from "./control/advance.ts";
import { notices, perform } from "./control/perform.ts";
import { Snapshots } from "./control/snapshots.ts";

export function ControlPage() {
  if (isDevChain.value === undefined) return html`<h1>Control</h1><p class="waiting">Loading …</p>`;
  if (!isDevChain.value) {
    return html`<h1>Control</h1><p>This node follows a network, whose chain cannot be controlled. <code>fanal dev</code> starts one that can be controlled.</p>`;
  }
  return html`<h1>Control</h1>
    <${Clock} />
    <${Advance} />
    <${Notices} />
    <${Snapshots} />
    <div class="control">
      <fieldset><legend>Time</legend>
        <${Action} label="Skip" method="dev_skip" fields=${[{ name: "slots", label: "Empty slots", initial: "1" }]} />
        <${Action} label="Set speed" method="dev_setSpeed" fields=${[{ name: "speed", label: "Speed", placeholder: "× real time", isRequired: true }]} />
      </fieldset>
      <fieldset><legend>Validators</legend>
        <${Action} label="Set online" method="dev_setValidators" fields=${[{ name: "online", label: "Online", placeholder: "all, none, 0.6 or 0-7", isRequired: true }]} />
        <${Action} label="Slash" method="dev_slash" fields=${[
          { name: "validators", label: "Validator", isRequired: true },
          { name: "kind", label: "Slash as", initial: "proposer", options: ["proposer", "attester"] },
        ]} />
        <${Action} label="Exit" method="dev_exit" fields=${[{ name: "validator", label: "Validator", isRequired: true }]} />
        <${Action} label="Withdraw" method="dev_withdraw" fields=${[
          { name: "validator", label: "Validator", isRequired: true },
          { name: "amount", label: "Gwei", placeholder: "full exit" },
        ]} />
        <${Action} label="Deposit" method="dev_deposit" fields=${[{ name: "count", label: "New validators", initial: "1" }]} />
      </fieldset>
      <fieldset><legend>Branches</legend>
        <${Action} label="Reorganise" method="dev_reorg" fields=${[{ name: "depth", label: "Blocks", initial: "1" }]} />
        <${Action} label="Grow two branches" method="dev_fork" fields=${[
          { name: "slots", label: "Slots", initial: "2" },
          { name: "votes", label: "Votes", initial: "split", options: ["split", "old", "new"] },
        ]} />
        <${Action} label="Delay blocks" method="dev_delayBlocks" fields=${[{ name: "slots", label: "Slots", initial: "1" }]} />
      </fieldset>
      ${fork.value === "gloas" && html`<${Payloads} /><${Builders} />`}
    </div>`;
}

const SLOTS: ActionField = { name: "slots", label: "Slots", initial: "1" };

/** Faults of builders and payload timeliness committees. */
function Payloads() {
  return html`<fieldset><legend>Payloads</legend>
    <${Action} label="Withhold" method="dev_withholdPayloads" fields=${[SLOTS]} />
    <${Action} label="Delay" method="dev_delayPayloads" fields=${[SLOTS, { name: "slots_late", label: "Slots late", initial: "0" }]} />
    <${Action} label="Falsify" method="dev_falsifyPayloads" fields=${[
      { name: "kind", label: "As", initial: "different", options: ["different", "equivocation", "invalid"] },
      SLOTS,
    ]} />
    <${Action} label="Withhold blobs" method="dev_withholdBlobs" fields=${[SLOTS]} />
    <${Action} label="Reveal" method="dev_revealPayload" fields=${[{ name: "block_id", label: "Block", placeholder: "newest withheld" }]} />
    <${Action} label="Set votes" method="dev_setPayloadVotes" fields=${[
      { name: "payload_present", label: "Payload", initial: "false", options: ["true", "false"] },
      { name: "validators", label: "Members", initial: "all" },
      SLOTS,
    ]} />
    <${Action} label="Abstain" method="dev_setPayloadVotes" fields=${[
      { name: "abstain", label: "Abstain", initial: "true", options: ["true"] },
      { name: "validators", label: "Members", initial: "all" },
      SLOTS,
    ]} />
  </fieldset>`;
}

const BUILDER: ActionField = { name: "builder", label: "Builder", initial: "0" };

/** Bids, payloads and operations of builders. */
function Builders() {
  return html`<fieldset><legend>Builders</legend>
    <${Action} label="Bid" method="dev_bid" fields=${[
      BUILDER,
      { name: "value", label: "Gwei", initial: "1000000000" },
      { name: "slots", label: "Slots", initial: "1", placeholder: "a number or all" },
      { name: "equivocate", label: "Twice", initial: "false", options: ["false", "true"] },
    ]} />
    <${Action} label="Withhold payloads" method="dev_withholdBuilderPayloads" fields=${[BUILDER, SLOTS]} />
    <${Action} label="Top up" method="dev_topUpBuilder" fields=${[BUILDER, { name: "amount", label: "Gwei", initial: "32000000000" }]} />
    <${Action} label="Exit" method="dev_exitBuilder" fields=${[BUILDER]} />
  </fieldset>`;
}

/** Shows the chain time with a button to pause or resume it. */
function Clock() {
  const time = chainTime.value;
  if (!time) return html`<p class="waiting">Loading …</p>`;
  const isPaused = time.speed === 0;
  const pace = time.speed === 1 ? "in real time" : `at ${time.speed} × real time`;
  return html`<p class="buttons">
    <span>Slot ${grouped(time.slot)}. Time ${isPaused ? "is paused" : `runs ${pace}`}.</span>
    <button type="button" onClick=${() => void perform(isPaused ? "dev_resume" : "dev_pause")}>${isPaused ? "Resume" : "Pause"}</button>
  </p>`;
}

const clockTime = (time: Date) => time.toLocaleTimeString("en-GB");

function Notices() {
  return html`<div class="notices" role="log" aria-label="Outcomes" tabindex="0"><ol>
    ${notices.value.map(
      ({ number, time, text, link, isError }) => html`<li key=${number} class=${isError ? "problem" : undefined}>
        <time dateTime=${time.toISOString()}>${clockTime(time)}</time>
        <span role=${isError ? "alert" : undefined}>${text} ${link && html`<a href=${link.href}>${link.label}</a>`}</span>
      </li>`,
    )}
  </ol></div>`;
}
