import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { placeBlocks } from "../chain-tree.ts";
import { chainOf, type ForkChoiceBlock, type ForkPoint, forkPointsOf } from "../fork-points.ts";
import { aligned, counted, percent } from "../format.ts";
import { participation, placedBlocks, useChain } from "../live.ts";
import { node } from "../node.ts";
import { Band } from "../parts/band.ts";
import { minor, minorNumeric, numeric } from "../parts/column.ts";
import { Fields, Table } from "../parts/fields.ts";
import { BlockLink, EpochLink, SlotLink } from "../parts/links.ts";
import { Show, useLoaded } from "../parts/loading.ts";
import { BlockStatus } from "../parts/status.ts";
import { blocksAmong, payloadTexts } from "../payload-texts.ts";

type ForkChoice = Awaited<ReturnType<typeof node.get_v2_debug_fork_choice>>;

/** Number of blocks listed initially, since there are many without finality. */
const SHOWN_BLOCKS = 64;

export function ForkChoicePage() {
  const { head } = useChain();
  const forkChoice = useLoaded((signal) => node.get_v2_debug_fork_choice({}, { signal }), [head.head_block_root]);
  return html`<h1>Fork choice</h1>
    <${Show} of=${forkChoice}>${(value: ForkChoice) => html`<${Tree} of=${value} />`}<//>`;
}

function Tree({ of }: { of: ForkChoice }) {
  const { justified_checkpoint, finalized_checkpoint } = of;
  const blocksOfTree = blocksAmong(of.fork_choice_nodes);
  const { head, time, slotsPerEpoch } = useChain();
  const checkpoint = ({ epoch, root }: { epoch: string; root: string }) =>
    html`epoch <${EpochLink} epoch=${epoch} />, <${BlockLink} root=${root} />`;
  const notes = blocksOfTree.map((each) => ({
    root: each.block_root,
    slot: Number(each.slot),
    parentRoot: each.parent_root,
    proposer: undefined,
  }));
  // Fork choice contains no blocks before the finalized block.
  const blocks = [...notes, ...placedBlocks.value].map((note) => [note.root, note] as const);
  const placed = placeBlocks(new Map(blocks), head.head_block_root);
  return html`<${Fields} of=${{
    Head: html`<${BlockLink} root=${head.head_block_root} /> of slot <${SlotLink} slot=${head.head_slot} />`,
    Justified: checkpoint(justified_checkpoint),
    Finalized: checkpoint(finalized_checkpoint),
    Blocks: `${counted(blocksOfTree.length, "block")} since the finalized checkpoint`,
  }} />
    <${Band} blocks=${placed} currentSlot=${time.slot} finalizedSlot=${Number(head.finalized_slot)} justifiedSlot=${Number(head.justified_slot)} slotsPerEpoch=${slotsPerEpoch} />
    <p class="waiting">
      Weights are votes for a block and its descendants. A timely block of the current slot also gives its chain the
      proposer boost, so weights may add up to more than the stake.
    </p>
    <h2>Forks</h2>
    <${Forks} points=${forkPointsOf(blocksOfTree, head.head_block_root)} />
    <h2>Blocks</h2>
    <${Blocks} of=${of} head=${head.head_block_root} />`;
}

/** Compares the branches of each fork by their weights. */
function Forks({ points }: { points: readonly ForkPoint[] }) {
  if (points.length === 0) return html`<p class="waiting">All blocks are on one chain.</p>`;
  return points.map(({ parentRoot, parentSlot, branches }) => {
    const weights = aligned(
      branches.map(({ first }) => first.weight),
      9,
    );
    const parentName = parentSlot === undefined ? parentRoot : `slot ${parentSlot}`;
    return html`<section key=${parentRoot}>
      <h3>After ${parentSlot === undefined ? html`<${BlockLink} root=${parentRoot} />` : html`slot <${SlotLink} slot=${parentSlot} />`}</h3>
      <${Table} caption=${`Branches after ${parentName}`} empty=""
        head=${["branch", minor("newest block"), minorNumeric("blocks"), numeric("weight (ETH)"), numeric("of the stake"), "status"]}
        rows=${branches.map(({ first, tip, blockCount, isChosen }, index) => [
          html`<${BlockLink} root=${first.block_root} />`,
          html`slot <${SlotLink} slot=${tip.slot} />`,
          blockCount,
          weights[index],
          html`<${Share} of=${first} />`,
          isChosen ? html`<span class="is-canonical">chosen</span>` : html`<span class="is-orphaned">not chosen</span>`,
        ])} />
    </section>`;
  });
}

/** Shows the weight of a branch as a share of the active stake. */
function Share({ of: { block_root, weight } }: { of: ForkChoiceBlock }) {
  const stake = participation.value && Number(participation.value.active_balance);
  if (!stake) return "–";
  const share = Number(weight) / stake;
  return html`${percent(share)} <progress class="bar minor" max="1" value=${Math.min(1, share)} aria-label=${`Weight of ${block_root}`}></progress>`;
}

function Blocks({ of, head }: { of: ForkChoice; head: string }) {
  const [shown, setShown] = useState(SHOWN_BLOCKS);
  const blocks = blocksAmong(of.fork_choice_nodes);
  const chain = chainOf(blocks, head);
  const payloads = payloadTexts(of.fork_choice_nodes, of.extra_data, chain);
  const newestFirst = blocks.sort((a, b) => Number(b.slot) - Number(a.slot));
  const hiddenCount = newestFirst.length - shown;
  const weights = aligned(
    newestFirst.map(({ weight }) => weight),
    9,
  );
  return html`<${Table} caption="Blocks since the finalized checkpoint" empty=""
      head=${["slot", "block", minor("parent"), numeric("weight (ETH)"), minor("payload"), "status"]}
      rows=${newestFirst
        .slice(0, shown)
        .map(({ slot, block_root: root, parent_root: parent }, index) => [
          html`<${SlotLink} slot=${slot} />`,
          html`<${BlockLink} root=${root} />`,
          html`<${BlockLink} root=${parent} />`,
          weights[index],
          payloads.get(root),
          html`<${BlockStatus} root=${root} slot=${Number(slot)} isCanonical=${chain.has(root)} />`,
        ])} />
    ${hiddenCount > 0 && html`<p><button type="button" onClick=${() => setShown(shown + 4 * SHOWN_BLOCKS)}>Show more, ${counted(hiddenCount, "block")} left</button></p>`}`;
}
