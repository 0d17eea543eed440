import { html } from "htm/preact";
import { summarizeEpochs } from "../chain-tree.ts";
import { counted, eth, grouped, percent } from "../format.ts";
import { executionClient, fork, participation, peerCount, placedBlocks, reorgs, syncing, useChain } from "../live.ts";
import { hasEvents } from "../node.ts";
import { Band } from "../parts/band.ts";
import { minorNumeric, numeric } from "../parts/column.ts";
import { Countdown } from "../parts/countdown.ts";
import { EpochParticipation } from "../parts/epoch-participation.ts";
import { Table } from "../parts/fields.ts";
import { BlockLink, EpochLink, SlotLink } from "../parts/links.ts";
import { EpochStatus } from "../parts/status.ts";

const SHOWN_EPOCHS = 8;

export function ChainPage() {
  const { head, time, slotsPerEpoch } = useChain();
  const finalizedSlot = Number(head.finalized_slot);
  const justifiedSlot = Number(head.justified_slot);
  return html`
    <h1>Chain</h1>
    <${Tiles} />
    <h2>Last slots</h2>
    <${Band} blocks=${placedBlocks.value} currentSlot=${time.slot} finalizedSlot=${finalizedSlot} justifiedSlot=${justifiedSlot} slotsPerEpoch=${slotsPerEpoch} />
    <h2>Last epochs</h2>
    <${Epochs} />
    ${
      reorgs.value.length > 0 &&
      html`<h2>Reorganisations</h2>
      <${Table} caption="Reorgs since this page was opened" empty="" head=${["slot", numeric("depth"), "from", "to"]}
        rows=${reorgs.value.map(({ slot, depth, oldHead, newHead }) => [
          html`<${SlotLink} slot=${slot} />`,
          depth,
          html`<${BlockLink} root=${oldHead} />`,
          html`<${BlockLink} root=${newHead} />`,
        ])} />`
    }
  `;
}

function Tiles() {
  const { head, time, slotsPerEpoch } = useChain();
  const vote = participation.value;
  const sync = syncing.value;
  const currentSlot = time.slot;
  const epochsToFinal =
    Math.floor(currentSlot / slotsPerEpoch) - Math.floor(Number(head.finalized_slot) / slotsPerEpoch);
  return html`<dl class="tiles">
    <${Tile} name="Slot" note=${html`<${Countdown} />`}>${grouped(currentSlot)}<//>
    <${Tile} name="Head" note=${html`<${BlockLink} root=${head.head_block_root} />`}><${SlotLink} slot=${head.head_slot} /><//>
    <${Tile} name="Finalized epoch" note=${`${counted(epochsToFinal, "epoch")} ago`}>
      <${EpochLink} epoch=${Math.floor(Number(head.finalized_slot) / slotsPerEpoch)} />
    <//>
    <${Tile} name="Justified epoch"><${EpochLink} epoch=${Math.floor(Number(head.justified_slot) / slotsPerEpoch)} /><//>
    <${Tile} name="Fork">${fork.value}<//>
    <${Tile} name="Participation, last epoch" note=${vote && `${percent(vote.current_epoch)} this epoch`}>
      ${vote && (vote.previous_epoch === null ? "–" : percent(vote.previous_epoch))}
    <//>
    <${Tile} name="Sync committee" note="signed the head's parent">
      ${vote && (vote.sync_committee === null ? "–" : percent(vote.sync_committee))}
    <//>
    <${Tile} name="Active validators" note=${vote && `of ${grouped(vote.validators)}; ${eth(vote.active_balance)}`}>
      ${vote && grouped(vote.active_validators)}
    <//>
    <${Tile} name="Execution" note=${executionClient.value}>
      ${sync && (sync.el_offline ? "offline" : executionClient.value === "" ? "built in" : "connected")}
    <//>
    <${Tile} name="Peers">${peerCount.value !== undefined && html`<a href="#/peers">${peerCount.value}</a>`}<//>
    <${Tile} name="Sync" note=${sync && (sync.is_optimistic ? "optimistic" : "verified")}>
      ${sync && (sync.is_syncing ? `${counted(sync.sync_distance, "slot")} behind` : "in sync")}
    <//>
  </dl>`;
}

function Tile({ name, note, children }: { name: string; note?: unknown; children?: unknown }) {
  return html`<div class="tile"><dt>${name}</dt><dd>${children}</dd>${note && html`<dd class="note">${note}</dd>`}</div>`;
}

function Epochs() {
  const { time, slotsPerEpoch } = useChain();
  const currentSlot = time.slot;
  const blocks = placedBlocks.value;
  const firstKnownSlot = Math.min(currentSlot, ...blocks.map(({ slot }) => slot));
  // The first epoch whose slots are all known.
  const firstEpoch = Math.max(
    Math.ceil(firstKnownSlot / slotsPerEpoch),
    Math.floor(currentSlot / slotsPerEpoch) - SHOWN_EPOCHS + 1,
  );
  // The current slot may still get a block. If there are no events, the previous slot's block may not be loaded yet.
  const hasBlock = blocks.some(({ slot, lane }) => slot === currentSlot && lane === 0);
  const to = hasBlock ? currentSlot : currentSlot - (hasEvents ? 1 : 2);
  const epochs = summarizeEpochs(blocks, { from: firstEpoch * slotsPerEpoch, to, slotsPerEpoch });
  return html`<${Table} caption="Epochs" empty="No epoch is known yet."
    head=${["epoch", "status", numeric("participation"), minorNumeric("proposed"), numeric("missed"), numeric("orphaned")]}
    rows=${epochs.map(({ epoch, proposed, missed, orphaned }) => [
      html`<${EpochLink} epoch=${epoch} />`,
      html`<${EpochStatus} epoch=${epoch} />`,
      html`<${EpochParticipation} key=${epoch} epoch=${epoch} />`,
      proposed,
      missed,
      orphaned,
    ])} />`;
}
