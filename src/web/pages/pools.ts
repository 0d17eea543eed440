import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import type { EthTransaction } from "../../client/index.ts";
import { countBits, counted } from "../format.ts";
import { hasEvm, useChain } from "../live.ts";
import { node } from "../node.ts";
import { Table } from "../parts/fields.ts";
import { AccountLink, BlockLink, EpochLink, SlotLink, ValidatorLink } from "../parts/links.ts";
import { Show, useLoaded } from "../parts/loading.ts";
import { Transactions } from "./execution/transactions.ts";

/** Common fields of all attestation types. */
interface Vote {
  aggregation_bits: string;
  data: { slot: string; beacon_block_root: string };
}

/** Attestations of earlier slots are not shown; the pool may be very large. */
const SHOWN_SLOTS = 2;
const SHOWN_ROWS = 100;

export function PoolsPage() {
  const { head, time } = useChain();
  const pools = useLoaded(readPools, [head.head_block_root]);
  const votes = useLoaded((signal) => readVotes(time.slot, signal), [time.slot, head.head_block_root]);
  return html`<h1>Pools</h1>
    <p>Operations that wait for a block.</p>
    ${hasEvm.value && html`<${PooledTransactions} head=${head.head_block_root} />`}
    <${Show} of=${pools}>
      ${({ exits, proposerSlashings, attesterSlashings, changes }: NonNullable<typeof pools.value>) => html`
        <${Pool} title="Voluntary exits" noun="exit" head=${["validator", "from epoch"]}
          rows=${exits.map(({ message }) => [
            html`<${ValidatorLink} index=${message.validator_index} />`,
            html`<${EpochLink} epoch=${message.epoch} />`,
          ])} />
        <${Pool} title="Proposer slashings" noun="slashing" head=${["validator", "slot"]}
          rows=${proposerSlashings.map(({ signed_header_1: { message } }) => [
            html`<${ValidatorLink} index=${message.proposer_index} />`,
            html`<${SlotLink} slot=${message.slot} />`,
          ])} />
        <${Pool} title="Attester slashings" noun="slashing" head=${["validators", "target epochs"]}
          rows=${attesterSlashings.map(({ attestation_1: one, attestation_2: other }) => [
            slashedIndices(one.attesting_indices, other.attesting_indices).map(
              (index) => html`<${ValidatorLink} index=${index} /> `,
            ),
            html`<${EpochLink} epoch=${one.data.target.epoch} />, <${EpochLink} epoch=${other.data.target.epoch} />`,
          ])} />
        <${Pool} title="Credential changes" noun="change" head=${["validator", "new address"]}
          rows=${changes.map(({ message }) => [
            html`<${ValidatorLink} index=${message.validator_index} />`,
            hasEvm.value
              ? html`<${AccountLink} address=${message.to_execution_address} />`
              : html`<code>${message.to_execution_address}</code>`,
          ])} />`}
    <//>
    <${Show} of=${votes}>
      ${(
        list: Vote[],
      ) => html`<${Pool} title=${`Attestations of the last ${SHOWN_SLOTS} slots`} noun="attestation" head=${["slot", "validators", "for"]}
        rows=${list.map(({ aggregation_bits, data }) => [
          html`<${SlotLink} slot=${data.slot} />`,
          countBits(aggregation_bits, "list"),
          html`<${BlockLink} root=${data.beacon_block_root} />`,
        ])} />`}
    <//>`;
}

interface PoolProps {
  title: string;
  noun: string;
  head: readonly string[];
  rows: readonly (readonly ComponentChildren[])[];
}

/** Shows the first operations of a pool, and how many there are. */
function Pool({ title, noun, head, rows }: PoolProps) {
  return html`<h2>${title}</h2>
    ${rows.length > 0 && html`<p>${counted(rows.length, noun)}${rows.length > SHOWN_ROWS ? `, the first ${SHOWN_ROWS}:` : ""}</p>`}
    <${Table} caption=${title} empty="None." head=${head} rows=${rows.slice(0, SHOWN_ROWS)} />`;
}

function PooledTransactions({ head }: { head: string }) {
  const pooled = useLoaded(
    async (signal) => {
      const { pending, queued } = await node.txpool_content({}, { signal });
      return [pending, queued].flatMap((senders) =>
        Object.values(senders).flatMap((byNonce) => Object.values(byNonce)),
      );
    },
    [head],
  );
  return html`<h2>Transactions</h2>
    <${Show} of=${pooled}>
      ${(list: EthTransaction[]) => html`${list.length > 0 && html`<p>${counted(list.length, "transaction")}</p>`}
        <${Transactions} of=${list.slice(0, SHOWN_ROWS)} caption="Pooled transactions" empty="None." />`}
    <//>`;
}

/** A slashing applies to the validators of both attestations. */
function slashedIndices(one: readonly string[], other: readonly string[]): string[] {
  const indices = new Set(other);
  return one.filter((index) => indices.has(index));
}

async function readPools(signal: AbortSignal) {
  const [exits, proposerSlashings, attesterSlashings, changes] = await Promise.all([
    node.get_v1_beacon_pool_voluntary_exits({}, { signal }),
    node.get_v1_beacon_pool_proposer_slashings({}, { signal }),
    node.get_v2_beacon_pool_attester_slashings({}, { signal }),
    node.get_v1_beacon_pool_bls_to_execution_changes({}, { signal }),
  ]);
  return { exits, proposerSlashings, attesterSlashings, changes };
}

async function readVotes(slot: number, signal: AbortSignal): Promise<Vote[]> {
  const slots = Array.from({ length: SHOWN_SLOTS }, (_, back) => slot - back).filter((each) => each >= 0);
  const votes = await Promise.all(
    slots.map((each) => node.get_v2_beacon_pool_attestations({ slot: each }, { signal })),
  );
  return votes.flat();
}
