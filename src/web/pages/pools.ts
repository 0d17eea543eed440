import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import type { EthTransaction } from "../../client/index.ts";
import { countBits, counted, grouped } from "../format.ts";
import { hasEvm, useChain } from "../live.ts";
import { node } from "../node.ts";
import { type Column, numeric } from "../parts/column.ts";
import { Fields, Table } from "../parts/fields.ts";
import { Address, BlockLink, EpochLink, SlotLink, ValidatorLink } from "../parts/links.ts";
import { Show, useLoaded } from "../parts/loading.ts";
import { Transactions } from "./execution/transactions.ts";

/** Fields common to all attestation types. */
interface Vote {
  aggregation_bits: string;
  data: { slot: string; beacon_block_root: string };
}

/** Attestations from older slots are not shown, because the pool may be very large. */
const SHOWN_SLOTS = 2;
const SHOWN_ROWS = 100;
const ATTESTATIONS = `Attestations of the last ${SHOWN_SLOTS} slots`;

export function PoolsPage() {
  const { head, time } = useChain();
  const isExecuting = hasEvm.value === true;
  const pools = useLoaded(
    (signal) => readPools(time.slot, isExecuting, signal),
    [time.slot, head.head_block_root, isExecuting],
  );
  return html`<h1>Pools</h1>
    <p>Operations known to the node.</p>
    <${Show} of=${pools}>${(value: PooledOperations) => html`<${Pools} of=${value} />`}<//>`;
}

function Pools({ of }: { of: PooledOperations }) {
  const { transactions, exits, proposerSlashings, attesterSlashings, changes, votes } = of;
  return html`<${Fields} of=${{
    Transactions: transactions && grouped(transactions.length),
    "Voluntary exits": grouped(exits.length),
    "Proposer slashings": grouped(proposerSlashings.length),
    "Attester slashings": grouped(attesterSlashings.length),
    "BLS to execution changes": grouped(changes.length),
    [ATTESTATIONS]: grouped(votes.length),
  }} />
    ${
      transactions !== undefined &&
      transactions.length > 0 &&
      html`<h2>Transactions</h2>
        <${First} of=${transactions} />
        <${Transactions} of=${transactions.slice(0, SHOWN_ROWS)} caption="Pooled transactions" empty="" />`
    }
    <${Pool} title="Voluntary exits" head=${["validator", "from epoch"]}
      rows=${exits.map(({ message }) => [
        html`<${ValidatorLink} index=${message.validator_index} />`,
        html`<${EpochLink} epoch=${message.epoch} />`,
      ])} />
    <${Pool} title="Proposer slashings" head=${["validator", "slot"]}
      rows=${proposerSlashings.map(({ signed_header_1: { message } }) => [
        html`<${ValidatorLink} index=${message.proposer_index} />`,
        html`<${SlotLink} slot=${message.slot} />`,
      ])} />
    <${Pool} title="Attester slashings" head=${["validators", "target epochs"]}
      rows=${attesterSlashings.map(({ attestation_1: one, attestation_2: other }) => [
        slashedIndices(one.attesting_indices, other.attesting_indices).map(
          (index) => html`<${ValidatorLink} index=${index} /> `,
        ),
        html`<${EpochLink} epoch=${one.data.target.epoch} />, <${EpochLink} epoch=${other.data.target.epoch} />`,
      ])} />
    <${Pool} title="BLS to execution changes" head=${["validator", "new address"]}
      rows=${changes.map(({ message }) => [
        html`<${ValidatorLink} index=${message.validator_index} />`,
        html`<${Address} address=${message.to_execution_address} />`,
      ])} />
    <${Pool} title=${ATTESTATIONS} head=${["slot", numeric("validators"), "head block"]}
      rows=${votes.map(({ aggregation_bits, data }) => [
        html`<${SlotLink} slot=${data.slot} />`,
        countBits(aggregation_bits, "list"),
        html`<${BlockLink} root=${data.beacon_block_root} />`,
      ])} />`;
}

interface PoolProps {
  title: string;
  head: readonly (string | Column)[];
  rows: readonly (readonly ComponentChildren[])[];
}

/** Shows the first operations in a pool. Renders nothing for an empty pool. */
function Pool({ title, head, rows }: PoolProps) {
  if (rows.length === 0) return null;
  return html`<h2>${title}</h2>
    <${First} of=${rows} />
    <${Table} caption=${title} empty="" head=${head} rows=${rows.slice(0, SHOWN_ROWS)} />`;
}

/** Indicates that a list is truncated. */
function First({ of }: { of: readonly unknown[] }) {
  return of.length > SHOWN_ROWS
    ? html`<p>The first ${SHOWN_ROWS} of ${counted(of.length, "entry", "entries")}:</p>`
    : null;
}

/** Returns the validators that appear in both attestations, which are the ones slashed. */
function slashedIndices(one: readonly string[], other: readonly string[]): string[] {
  const indices = new Set(other);
  return one.filter((index) => indices.has(index));
}

type PooledOperations = Awaited<ReturnType<typeof readPools>>;

async function readPools(slot: number, isExecuting: boolean, signal: AbortSignal) {
  const [transactions, exits, proposerSlashings, attesterSlashings, changes, votes] = await Promise.all([
    isExecuting ? readTransactions(signal) : undefined,
    node.get_v1_beacon_pool_voluntary_exits({}, { signal }),
    node.get_v1_beacon_pool_proposer_slashings({}, { signal }),
    node.get_v2_beacon_pool_attester_slashings({}, { signal }),
    node.get_v1_beacon_pool_bls_to_execution_changes({}, { signal }),
    readVotes(slot, signal),
  ]);
  return { transactions, exits, proposerSlashings, attesterSlashings, changes, votes };
}

async function readTransactions(signal: AbortSignal): Promise<EthTransaction[]> {
  const { pending, queued } = await node.txpool_content({}, { signal });
  return [pending, queued].flatMap((senders) => Object.values(senders).flatMap((byNonce) => Object.values(byNonce)));
}

async function readVotes(slot: number, signal: AbortSignal): Promise<Vote[]> {
  const slots = Array.from({ length: SHOWN_SLOTS }, (_, back) => slot - back).filter((each) => each >= 0);
  const votes = await Promise.all(
    slots.map((each) => node.get_v2_beacon_pool_attestations({ slot: each }, { signal })),
  );
  return votes.flat();
}
