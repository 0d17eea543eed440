import { html } from "htm/preact";
import { eth, grouped } from "../format.ts";
import { chainHead } from "../live.ts";
import { node } from "../node.ts";
import { Fields, Table } from "../parts/fields.ts";
import { BlockLink, EpochLink, SlotLink } from "../parts/links.ts";
import { Show, useLoaded } from "../parts/loading.ts";

type ForkChoice = Awaited<ReturnType<typeof node.get_v1_debug_fork_choice>>;

export function ForkChoicePage() {
  const head = chainHead.value?.head_block_root;
  const forkChoice = useLoaded((signal) => node.get_v1_debug_fork_choice({}, { signal }), [head]);
  return html`<h1>Fork choice</h1>
    <${Show} of=${forkChoice}>${(value: ForkChoice) => html`<${Tree} of=${value} head=${head ?? ""} />`}<//>`;
}

function Tree({
  of: { justified_checkpoint, finalized_checkpoint, fork_choice_nodes },
  head,
}: {
  of: ForkChoice;
  head: string;
}) {
  const chain = new Set<string>();
  const byRoot = new Map<string, ForkChoice["fork_choice_nodes"][number]>(
    fork_choice_nodes.map((each) => [each.block_root, each]),
  );
  for (let block = byRoot.get(head); block; block = byRoot.get(block.parent_root)) chain.add(block.block_root);
  const checkpoint = ({ epoch, root }: { epoch: string; root: string }) =>
    html`epoch <${EpochLink} epoch=${epoch} />, <${BlockLink} root=${root} />`;
  const newestFirst = [...fork_choice_nodes].sort((a, b) => Number(b.slot) - Number(a.slot));
  return html`<${Fields} of=${{ Justified: checkpoint(justified_checkpoint), Finalized: checkpoint(finalized_checkpoint) }} />
    <p>${grouped(fork_choice_nodes.length)} blocks are not final.</p>
    <${Table} caption="Blocks that are not finalized" empty="" head=${["slot", "block", "on", "weight", "payload", "standing"]}
      rows=${newestFirst.map(({ slot, block_root, parent_root, weight, validity }) => [
        html`<${SlotLink} slot=${slot} />`,
        html`<${BlockLink} root=${block_root} />`,
        html`<${BlockLink} root=${parent_root} />`,
        eth(weight),
        validity,
        block_root === head
          ? "head"
          : chain.has(block_root)
            ? html`<span class="is-canonical">chain</span>`
            : html`<span class="is-orphaned">branch</span>`,
      ])} />`;
}
