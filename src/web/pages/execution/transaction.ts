import { html } from "htm/preact";
import type { EthReceipt, EthTransaction } from "../../../client/index.ts";
import { byteSize, ether, grouped, gwei } from "../../format.ts";
import { useChain } from "../../live.ts";
import { node } from "../../node.ts";
import { Fields, Table } from "../../parts/fields.ts";
import { JsonView } from "../../parts/json-view.ts";
import { AccountLink, ExecutionBlockLink } from "../../parts/links.ts";
import { Problem, Show, useLoaded } from "../../parts/loading.ts";

const TYPES = ["legacy", "access list", "dynamic fee", "blobs", "set code"];

interface Found {
  transaction: EthTransaction | null;
  receipt: EthReceipt | null;
}

export function TransactionPage({ subject = "" }: { subject: string | undefined }) {
  const { head } = useChain();
  const hash = subject as `0x${string}`;
  const found = useLoaded(
    async (signal): Promise<Found> => {
      const [transaction, receipt] = await Promise.all([
        node.eth_getTransactionByHash({ hash }, { signal }),
        node.eth_getTransactionReceipt({ hash }, { signal }),
      ]);
      return { transaction, receipt };
    },
    [hash, head.head_block_root],
  );
  return html`<h1>Transaction</h1>
    <${Show} of=${found}>
      ${({ transaction, receipt }: Found) =>
        transaction === null
          ? html`<${Problem}>There is no transaction ${subject}.<//>`
          : html`<${Details} transaction=${transaction} receipt=${receipt} />`}
    <//>`;
}

function Details({ transaction, receipt }: { transaction: EthTransaction; receipt: EthReceipt | null }) {
  const { hash, blockNumber, from, to, value, nonce, type, gas, input } = transaction;
  return html`<${Fields} of=${{
    Hash: html`<code>${hash}</code>`,
    Status: html`<${Status} of=${receipt} />`,
    Block: blockNumber === null ? "pending" : html`<${ExecutionBlockLink} number=${Number(blockNumber)} />`,
    From: html`<${AccountLink} address=${from} />`,
    To: to === null ? "new contract" : html`<${AccountLink} address=${to} />`,
    Contract: receipt?.contractAddress ? html`<${AccountLink} address=${receipt.contractAddress} />` : undefined,
    Value: ether(value),
    Fee: receipt ? ether(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)) : undefined,
    "Gas price": gwei(receipt?.effectiveGasPrice ?? transaction.gasPrice),
    Gas: receipt ? `${grouped(BigInt(receipt.gasUsed))} of ${grouped(BigInt(gas))}` : `up to ${grouped(BigInt(gas))}`,
    Nonce: Number(nonce),
    Type: TYPES[Number(type)] ?? type,
    Input:
      input === "0x"
        ? "none"
        : html`<details><summary>${byteSize((input.length - 2) / 2)}</summary><code>${input}</code></details>`,
  }} />
    ${receipt && html`<h2>Logs</h2><${Logs} of=${receipt.logs} />`}
    <h2>JSON</h2>
    <${JsonView} value=${{ transaction, receipt }} folding="closed" />`;
}

function Status({ of: receipt }: { of: EthReceipt | null }) {
  if (receipt === null) return "pending";
  return Number(receipt.status) === 1
    ? html`<span class="is-canonical">succeeded</span>`
    : html`<span class="is-orphaned">reverted</span>`;
}

function Logs({ of }: { of: EthReceipt["logs"] }) {
  return html`<${Table} caption="Logs" empty="The transaction has no logs." head=${["index", "contract", "topics", "data"]}
    rows=${of.map(({ logIndex, address, topics, data }) => [
      Number(logIndex),
      html`<${AccountLink} address=${address} />`,
      topics.map((topic) => html`<div><code>${topic}</code></div>`),
      html`<code>${data}</code>`,
    ])} />`;
}
