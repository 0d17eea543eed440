import { html } from "htm/preact";
import { byteSize, ether, grouped, gwei, percent } from "../../format.ts";
import { node } from "../../node.ts";
import { Fields } from "../../parts/fields.ts";
import { JsonView } from "../../parts/json-view.ts";
import { AccountLink, BlockLink, ExecutionBlockLink } from "../../parts/links.ts";
import { Problem, Show, useLoaded } from "../../parts/loading.ts";
import { type FullBlock, hexOf, timeText } from "./reads.ts";
import { Transactions } from "./transactions.ts";

/** Shows an execution block by number, hash or tag. */
export function ExecutionBlockPage({ subject = "latest" }: { subject: string | undefined }) {
  const block = useLoaded((signal) => readBlock(subject, signal), [subject]);
  return html`<h1>Execution block ${/^\d+$/.test(subject) ? grouped(subject) : ""}</h1>
    <${Show} of=${block}>
      ${({ block: found }: { block: FullBlock | null }) =>
        found === null
          ? html`<${Problem}>There is no execution block ${subject}.<//>`
          : html`<${Details} of=${found} />`}
    <//>`;
}

async function readBlock(id: string, signal: AbortSignal): Promise<{ block: FullBlock | null }> {
  const isHash = /^0x[0-9a-f]{64}$/i.test(id);
  const block = isHash
    ? await node.eth_getBlockByHash({ hash: id as `0x${string}`, full: true }, { signal })
    : await node.eth_getBlockByNumber(
        { block: /^\d+$/.test(id) ? hexOf(Number(id)) : (id as "latest"), full: true },
        { signal },
      );
  return { block: block as FullBlock | null };
}

function Details({ of }: { of: FullBlock }) {
  const number = Number(of.number);
  return html`<p>
      ${number > 0 && html`<a href=${`#/execution-block/${number - 1}`}>← block ${grouped(number - 1)}</a> · `}
      <a href=${`#/execution-block/${number + 1}`}>block ${grouped(number + 1)} →</a>
    </p>
    <${Fields} of=${{
      Number: grouped(number),
      Hash: html`<code>${of.hash}</code>`,
      Parent: number > 0 ? html`<${ExecutionBlockLink} number=${number - 1} />` : "none",
      Time: timeText(of.timestamp),
      "Parent beacon block": of.parentBeaconBlockRoot && html`<${BlockLink} root=${of.parentBeaconBlockRoot} />`,
      "Fee recipient": of.miner === null ? undefined : html`<${AccountLink} address=${of.miner} />`,
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
