import { html } from "htm/preact";
import { byteSize, ether, grouped, gwei, percent, timeText } from "../../format.ts";
import { useChain } from "../../live.ts";
import { node } from "../../node.ts";
import { Fields } from "../../parts/fields.ts";
import { JsonView } from "../../parts/json-view.ts";
import { AccountLink, BlockLink, ExecutionBlockLink, SlotLink } from "../../parts/links.ts";
import { Problem, Show, useLoaded } from "../../parts/loading.ts";
import { slotAt } from "../../slot-time.ts";
import { type FullBlock, hexOf, readLatestNumber } from "./reads.ts";
import { Transactions } from "./transactions.ts";

/** Shows an execution block by number, hash or tag. */
export function ExecutionBlockPage({ subject = "latest" }: { subject: string | undefined }) {
  const { head } = useChain();
  const loaded = useLoaded((signal) => readBlock(subject, signal), [subject, head.head_block_root]);
  const number = loaded.value?.block?.number ?? (/^\d+$/.test(subject) ? subject : undefined);
  return html`<h1>Execution block ${number && grouped(Number(number))}</h1>
    <${Show} of=${loaded}>
      ${({ block, latest }: LoadedBlock) =>
        block === null
          ? html`<${Problem}>There is no execution block ${subject}.<//>`
          : html`<${Details} of=${block} latest=${latest} />`}
    <//>`;
}

interface LoadedBlock {
  block: FullBlock | null;
  latest: number;
}

async function readBlock(id: string, signal: AbortSignal): Promise<LoadedBlock> {
  const latest = await readLatestNumber(signal);
  const isHash = /^0x[0-9a-f]{64}$/i.test(id);
  const block = isHash
    ? await node.eth_getBlockByHash({ hash: id as `0x${string}`, full: true }, { signal })
    : await node.eth_getBlockByNumber(
        { block: /^\d+$/.test(id) ? hexOf(Number(id)) : (id as "latest"), full: true },
        { signal },
      );
  return { block: block as FullBlock | null, latest };
}

function Details({ of, latest }: { of: FullBlock; latest: number }) {
  const chain = useChain();
  const number = Number(of.number);
  const slot = slotAt(Number(of.timestamp), chain);
  return html`<p class="buttons range">
      ${number > 0 && html`<a href=${`#/execution-block/${number - 1}`}>← block ${grouped(number - 1)}</a>`}
      ${number < latest && html`<a href=${`#/execution-block/${number + 1}`}>block ${grouped(number + 1)} →</a>`}
    </p>
    <${Fields} of=${{
      Number: grouped(number),
      Hash: html`<code>${of.hash}</code>`,
      Parent: number > 0 ? html`<${ExecutionBlockLink} number=${number - 1} />` : "none",
      Time: `${timeText(Number(of.timestamp))} UTC`,
      "Beacon slot": slot === undefined ? undefined : html`<${SlotLink} slot=${slot} />`,
      "Parent beacon block":
        of.parentBeaconBlockRoot && html`<${BlockLink} root=${of.parentBeaconBlockRoot} isWhole />`,
      "Fee recipient": of.miner === null ? undefined : html`<${AccountLink} address=${of.miner} isWhole />`,
      Gas: `${grouped(BigInt(of.gasUsed))} of ${grouped(BigInt(of.gasLimit))}, ${percent(Number(of.gasUsed) / Number(of.gasLimit))}`,
      "Base fee": gwei(of.baseFeePerGas),
      "Blob gas": of.blobGasUsed && grouped(BigInt(of.blobGasUsed)),
      Size: byteSize(Number(of.size)),
      Withdrawals: of.withdrawals && `${of.withdrawals.length}, ${ether(sumOf(of.withdrawals) * 1_000_000_000n)}`,
      "State root": html`<code>${of.stateRoot}</code>`,
    }} />
    <h2>Transactions</h2>
    <${Transactions} of=${of.transactions} caption="Transactions of the block" empty="The block has no transactions." />
    <h2>JSON</h2>
    <${JsonView} value=${of} folding="closed" />`;
}

/** Withdrawals are in Gwei. */
const sumOf = (withdrawals: NonNullable<FullBlock["withdrawals"]>) =>
  withdrawals.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
