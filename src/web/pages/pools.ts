import { html } from "htm/preact";
import { countBits, grouped } from "../format.ts";
import { chainHead, chainTime } from "../live.ts";
import { node } from "../node.ts";
import { Table } from "../parts/fields.ts";
import { JsonView } from "../parts/json-view.ts";
import { BlockLink, SlotLink, ValidatorLink } from "../parts/links.ts";
import { Show, useLoaded } from "../parts/loading.ts";

/** Common fields of all attestation types. */
interface Vote {
  aggregation_bits: string;
  data: { slot: string; beacon_block_root: string };
}

/** Shows attestations of the current and the previous slot only; the pool may be very large. */
const SHOWN_SLOTS = 2;

export function PoolsPage() {
  const slot = chainTime.value?.slot ?? 0;
  const pools = useLoaded(readPools, [chainHead.value?.head_block_root]);
  const votes = useLoaded((signal) => readVotes(slot, signal), [slot, chainHead.value?.head_block_root]);
  return html`<h1>Pools</h1>
    <p>What waits to be included in a block.</p>
    <${Show} of=${pools}>
      ${({ exits, proposerSlashings, attesterSlashings, changes }: NonNullable<typeof pools.value>) => html`
        <h2>Voluntary exits</h2>
        <${Table} caption="Voluntary exits" empty="None." head=${["validator", "epoch"]}
          rows=${exits.map(({ message }) => [html`<${ValidatorLink} index=${message.validator_index} />`, message.epoch])} />
        <h2>Proposer slashings</h2>
        <${Table} caption="Proposer slashings" empty="None." head=${["validator", "slot"]}
          rows=${proposerSlashings.map(({ signed_header_1: { message } }) => [
            html`<${ValidatorLink} index=${message.proposer_index} />`,
            html`<${SlotLink} slot=${message.slot} />`,
          ])} />
        <h2>Attester slashings</h2>
        ${attesterSlashings.length === 0 ? html`<p class="waiting">None.</p>` : html`<${JsonView} value=${attesterSlashings} />`}
        <h2>Changes of credentials</h2>
        ${changes.length === 0 ? html`<p class="waiting">None.</p>` : html`<${JsonView} value=${changes} />`}`}
    <//>
    <h2>Votes of the last ${SHOWN_SLOTS} slots</h2>
    <${Show} of=${votes}>
      ${(rows: NonNullable<typeof votes.value>) => html`<p>${grouped(rows.length)} attestations</p>
        <${Table} caption="Attestations" empty="None." head=${["slot", "validators", "for"]}
          rows=${rows.map(({ aggregation_bits, data }: Vote) => [
            html`<${SlotLink} slot=${data.slot} />`,
            countBits(aggregation_bits, "list"),
            html`<${BlockLink} root=${data.beacon_block_root} />`,
          ])} />`}
    <//>`;
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

async function readVotes(slot: number, signal: AbortSignal) {
  const slots = Array.from({ length: SHOWN_SLOTS }, (_, back) => slot - back).filter((each) => each >= 0);
  const votes = await Promise.all(
    slots.map((each) => node.get_v2_beacon_pool_attestations({ slot: each }, { signal })),
  );
  return votes.flat() as Vote[];
}
