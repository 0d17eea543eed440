import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { placeBlocks } from "../chain-tree.ts";
import { type Branch, chainOf, type ForkPoint, forkPointsOf } from "../fork-points.ts";
import { counted, eth, percent } from "../format.ts";
import { participation, placedBlocks, useChain } from "../live.ts";
import { node } from "../node.ts";
import { Band } from "../parts/band.ts";
import { Fields, Table } from "../parts/fields.ts";
import { BlockLink, EpochLink, SlotLink } from "../parts/links.ts";
import { Show, useLoaded } from "../parts/loading.ts";

type ForkChoice = Awaited<ReturnType<typeof node.get_v1_debug_fork_choice>>;

/** Blocks listed at first: there are many without finality. */
const SHOWN_BLOCKS = 64;

export function ForkChoicePage() {
  const { head } = useChain();
  const forkChoice = useLoaded((signal) => node.get_v1_debug_fork_choice({}, { signal }), [head.head_block_root]);
  return html`<h1>Fork choice</h1>
    <${Show} of=${forkChoice}>${(value: ForkChoice) => html`<${Tree} of=${value} />`}<//>`;
}

function Tree({ of: { justified_checkpoint, finalized_checkpoint, fork_choice_nodes } }: { of: ForkChoice }) {
  const { head, time, slotsPerEpoch } = useChain();
  const checkpoint = ({ epoch, root }: { epoch: string; root: string }) =>
    html`epoch <${EpochLink} epoch=${epoch} />, <${BlockLink} root=${root} />`;
  const notes = fork_choice_nodes.map((each) => ({
    root: each.block_root,
    slot: Number(each.slot),
    parentRoot: each.parent_root,
    proposer: undefined,
  }));
  // Fork choice has no blocks before the finalized one.
  const blocks = [...notes, ...placedBlocks.value].map((note) => [note.root, note] as const);
  const placed = placeBlocks(new Map(blocks), head.head_block_root);
  return html`<${Fields} of=${{
    Head: html`<${BlockLink} root=${head.head_block_root} /> of slot <${SlotLink} slot=${head.head_slot} />`,
    Justified: checkpoint(justified_checkpoint),
    Finalized: checkpoint(finalized_checkpoint),
    Blocks: `${counted(fork_choice_nodes.length, "block")} since the finalized checkpoint`,
  }} />
    <${Band} blocks=${placed} currentSlot=${time.slot} finalizedSlot=${Number(head.finalized_slot)} justifiedSlot=${Number(head.justified_slot)} slotsPerEpoch=${slotsPerEpoch} />
    <h2>Forks</h2>
    <${Forks} points=${forkPointsOf(fork_choice_nodes, head.head_block_root)} />
    <h2>Blocks</h2>
    <${Blocks} of=${fork_choice_nodes} head=${head.head_block_root} />`;
}

/** Compares the branches of each fork by their weights. */
function Forks({ points }: { points: readonly ForkPoint[] }) {
  if (points.length === 0) return html`<p class="waiting">All blocks are on one chain.</p>`;
  return points.map(
    ({ parentRoot, parentSlot, branches }) => html`<section key=${parentRoot}>
      <h3>After ${parentSlot === undefined ? html`<${BlockLink} root=${parentRoot} />` : html`slot <${SlotLink} slot=${parentSlot} />`}</h3>
      <${Table} caption=${`Branches after ${parentSlot === undefined ? parentRoot : `slot ${parentSlot}`}`} empty="" head=${["branch", "newest block", "blocks", "weight", "status"]}
        rows=${branches.map((branch) => [
          html`<${BlockLink} root=${branch.first.block_root} />`,
          html`slot <${SlotLink} slot=${branch.tip.slot} />`,
          branch.blockCount,
          html`<${Weight} of=${branch} />`,
          branch.isChosen
            ? html`<span class="is-canonical">chosen</span>`
            : html`<span class="is-orphaned">not chosen</span>`,
        ])} />
    </section>`,
  );
}

/** Shows the votes for a branch, in ETH and as a share of the active stake. */
function Weight({ of: { first } }: { of: Branch }) {
  const stake = participation.value && Number(participation.value.active_balance);
  if (!stake) return eth(first.weight);
  const share = Math.min(1, Number(first.weight) / stake);
  return html`<progress class="bar" max="1" value=${share} aria-label=${`Weight of ${first.block_root}`}></progress> ${eth(first.weight)}, ${percent(share)} of the stake`;
}

function Blocks({ of, head }: { of: ForkChoice["fork_choice_nodes"]; head: string }) {
  const [shown, setShown] = useState(SHOWN_BLOCKS);
  const chain = chainOf(of, head);
  const newestFirst = [...of].sort((a, b) => Number(b.slot) - Number(a.slot));
  const left = newestFirst.length - shown;
  return html`<${Table} caption="Blocks since the finalized checkpoint" empty="" head=${["slot", "block", "parent", "weight", "payload", "status"]}
      rows=${newestFirst
        .slice(0, shown)
        .map(({ slot, block_root, parent_root, weight, validity }) => [
          html`<${SlotLink} slot=${slot} />`,
          html`<${BlockLink} root=${block_root} />`,
          html`<${BlockLink} root=${parent_root} />`,
          eth(weight),
          validity,
          block_root === head
            ? "head"
            : chain.has(block_root)
              ? html`<span class="is-canonical">on the chain</span>`
              : html`<span class="is-orphaned">orphaned</span>`,
        ])} />
    ${left > 0 && html`<p><button type="button" onClick=${() => setShown(shown + 4 * SHOWN_BLOCKS)}>Show more, ${counted(left, "block")} left</button></p>`}`;
}
