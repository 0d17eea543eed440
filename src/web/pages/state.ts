import { html } from "htm/preact";
import { counted, eth, grouped } from "../format.ts";
import { chainHead } from "../live.ts";
import { node } from "../node.ts";
import { Fields, Table } from "../parts/fields.ts";
import { BlockLink, EpochLink, ValidatorLink } from "../parts/links.ts";
import { Show, useLoaded } from "../parts/loading.ts";

/** Queue entries shown. */
const SHOWN_ENTRIES = 50;

export function StatePage({ subject = "head" }: { subject: string | undefined }) {
  const head = chainHead.value?.head_block_root;
  const state = useLoaded((signal) => readState(subject, signal), [subject, head]);
  return html`<h1>State ${subject.length > 20 ? "" : `“${subject}”`}</h1>
    <${Show} of=${state}>${(value: Awaited<ReturnType<typeof readState>>) => html`<${Summary} of=${value} />`}<//>
    <h2>Queues</h2>
    <${Queues} id=${subject} head=${head} />`;
}

async function readState(id: string, signal: AbortSignal) {
  const of = { state_id: id };
  const [{ root }, fork, checkpoints, { randao }] = await Promise.all([
    node.get_v1_beacon_states_root(of, { signal }),
    node.get_v1_beacon_states_fork(of, { signal }),
    node.get_v1_beacon_states_finality_checkpoints(of, { signal }),
    node.get_v1_beacon_states_stateId_randao(of, { signal }),
  ]);
  return { root, fork, checkpoints, randao };
}

function Summary({ of: { root, fork, checkpoints, randao } }: { of: Awaited<ReturnType<typeof readState>> }) {
  const checkpoint = ({ epoch, root: block }: { epoch: string; root: string }) =>
    html`epoch <${EpochLink} epoch=${epoch} />, ${/^0x0+$/.test(block) ? "genesis" : html`<${BlockLink} root=${block} />`}`;
  return html`<${Fields} of=${{
    Root: html`<code>${root}</code>`,
    Fork: html`<code>${fork.current_version}</code> since epoch ${grouped(fork.epoch)}`,
    Finalized: checkpoint(checkpoints.finalized),
    Justified: checkpoint(checkpoints.current_justified),
    "Previously justified": checkpoint(checkpoints.previous_justified),
    "RANDAO mix": html`<code>${randao}</code>`,
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
        <${Table} caption="Pending deposits" empty="" head=${["public key", "amount", "slot"]}
          rows=${rows.slice(0, SHOWN_ENTRIES).map(({ pubkey, amount, slot }) => [html`<code>${pubkey}</code>`, eth(amount), slot])} />`}
    <//>
    <h3>Partial withdrawals</h3>
    <${Show} of=${withdrawals}>
      ${(rows: NonNullable<typeof withdrawals.value>) => html`<p>${counted(rows.length, "pending withdrawal")}</p>
        <${Table} caption="Pending partial withdrawals" empty="" head=${["validator", "amount", "epoch"]}
          rows=${rows
            .slice(0, SHOWN_ENTRIES)
            .map(({ validator_index, amount, withdrawable_epoch }) => [
              html`<${ValidatorLink} index=${validator_index} />`,
              eth(amount),
              withdrawable_epoch,
            ])} />`}
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
