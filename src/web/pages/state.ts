import { html } from "htm/preact";
import { aligned, counted, grouped, short } from "../format.ts";
import { forkName, useChain } from "../live.ts";
import { node, resultsOf } from "../node.ts";
import { numeric } from "../parts/column.ts";
import { Fields, Table } from "../parts/fields.ts";
import { BlockLink, EpochLink, SlotLink, ValidatorLink } from "../parts/links.ts";
import { Show, useLoaded } from "../parts/loading.ts";
import { locateState } from "../state-position.ts";

/** Maximum number of queue entries shown. */
const SHOWN_ENTRIES = 50;

export function StatePage({ subject = "head" }: { subject: string | undefined }) {
  const { head: chainHead, slotsPerEpoch } = useChain();
  const head = chainHead.head_block_root;
  const state = useLoaded((signal) => readState(subject, slotsPerEpoch, signal), [subject, head]);
  return html`<h1>State ${subject.length > 20 ? "" : `“${subject}”`}</h1>
    <${Show} of=${state}>${(value: Awaited<ReturnType<typeof readState>>) => html`<${Summary} of=${value} />`}<//>
    <h2>Queues</h2>
    <${Queues} id=${subject} head=${head} />`;
}

async function readState(id: string, slotsPerEpoch: number, signal: AbortSignal) {
  const of = { state_id: id };
  const [{ root }, fork, checkpoints, { randao }, participation] = await Promise.all([
    node.get_v1_beacon_states_root(of, { signal }),
    node.get_v1_beacon_states_fork(of, { signal }),
    node.get_v1_beacon_states_finality_checkpoints(of, { signal }),
    node.get_v1_beacon_states_stateId_randao(of, { signal }),
    node.getParticipation(of, { signal }),
  ]);
  const epoch = Number(participation.epoch);
  const slots = Array.from({ length: slotsPerEpoch }, (_, index) => epoch * slotsPerEpoch + index);
  const headers = await node.batch(
    slots.map((slot) => ["get_v1_beacon_headers", { slot }] as const),
    { signal },
  );
  const position = locateState({ id, root, epoch, slotsPerEpoch }, resultsOf(headers).flat());
  return { root, fork, checkpoints, randao, position };
}

function Summary({ of }: { of: Awaited<ReturnType<typeof readState>> }) {
  const { root, fork, checkpoints, randao, position } = of;
  const { epoch, slot, blockRoot } = position;
  const checkpoint = (of: { epoch: string; root: string }) =>
    html`epoch <${EpochLink} epoch=${of.epoch} />, ${/^0x0+$/.test(of.root) ? "genesis" : html`<${BlockLink} root=${of.root} />`}`;
  return html`<${Fields} of=${{
    Slot: slot === undefined ? undefined : html`<${SlotLink} slot=${slot} />`,
    Epoch: html`<${EpochLink} epoch=${epoch} />`,
    Block: blockRoot === undefined ? "none in this slot" : html`<${BlockLink} root=${blockRoot} isWhole />`,
    Root: html`<code>${root}</code>`,
    Fork: `${forkName(fork.current_version)} (${fork.current_version}) since epoch ${grouped(fork.epoch)}`,
    "RANDAO mix": html`<code>${randao}</code>`,
  }} />
  <h2>Checkpoints in this state</h2>
  <${Fields} of=${{
    Finalized: checkpoint(checkpoints.finalized),
    Justified: checkpoint(checkpoints.current_justified),
    "Previously justified": checkpoint(checkpoints.previous_justified),
  }} />`;
}

function Queues({ id, head }: { id: string; head: string | undefined }) {
  const of = { state_id: id };
  const deposits = useLoaded(
    (signal) => node.get_v1_beacon_states_stateId_pending_deposits(of, { signal }),
    [id, head],
  );
  const withdrawals = useLoaded(
    (signal) => node.get_v1_beacon_states_stateId_pending_partial_withdrawals(of, { signal }),
    [id, head],
  );
  const consolidations = useLoaded(
    (signal) => node.get_v1_beacon_states_stateId_pending_consolidations(of, { signal }),
    [id, head],
  );
  return html`
    <h3>Deposits</h3>
    <${Show} of=${deposits}>
      ${(rows: NonNullable<typeof deposits.value>) => html`<p>${counted(rows.length, "pending deposit")}</p>
        <${Table} caption="Pending deposits" empty="" head=${["public key", numeric("amount (ETH)"), numeric("slot")]}
          rows=${withAmounts(rows).map(([{ pubkey, slot }, amount]) => [html`<code title=${pubkey}>${short(pubkey)}</code>`, amount, grouped(slot)])} />`}
    <//>
    <h3>Partial withdrawals</h3>
    <${Show} of=${withdrawals}>
      ${(rows: NonNullable<typeof withdrawals.value>) => html`<p>${counted(rows.length, "pending withdrawal")}</p>
        <${Table} caption="Pending partial withdrawals" empty="" head=${["validator", numeric("amount (ETH)"), numeric("epoch")]}
          rows=${withAmounts(rows).map(([{ validator_index, withdrawable_epoch }, amount]) => [html`<${ValidatorLink} index=${validator_index} />`, amount, grouped(withdrawable_epoch)])} />`}
    <//>
    <h3>Consolidations</h3>
    <${Show} of=${consolidations}>
      ${(rows: NonNullable<typeof consolidations.value>) => html`<p>${counted(rows.length, "pending consolidation")}</p>
        <${Table} caption="Pending consolidations" empty="" head=${["from", "into"]}
          rows=${rows
            .slice(0, SHOWN_ENTRIES)
            .map(({ source_index, target_index }) => [
              html`<${ValidatorLink} index=${source_index} />`,
              html`<${ValidatorLink} index=${target_index} />`,
            ])} />`}
    <//>`;
}

/** Returns the entries to show, each with its amount in ETH. */
function withAmounts<Entry extends { amount: string }>(entries: readonly Entry[]): [Entry, string][] {
  const shown = entries.slice(0, SHOWN_ENTRIES);
  const amounts = aligned(
    shown.map(({ amount }) => amount),
    9,
  );
  return shown.map((entry, index) => [entry, amounts[index]!]);
}
