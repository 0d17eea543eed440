import { html } from "htm/preact";
import type { EthTransaction } from "../../../client/index.ts";
import { ether } from "../../format.ts";
import { Table } from "../../parts/fields.ts";
import { AccountLink, ExecutionBlockLink, TransactionLink } from "../../parts/links.ts";

interface TransactionsProps {
  of: readonly EthTransaction[];
  caption: string;
  empty: string;
}

export function Transactions({ of, caption, empty }: TransactionsProps) {
  return html`<${Table} caption=${caption} empty=${empty} head=${["transaction", "block", "from", "to", "value", "method"]}
    rows=${of.map(({ hash, blockNumber, from, to, value, input }) => [
      html`<${TransactionLink} hash=${hash} />`,
      blockNumber === null ? "pending" : html`<${ExecutionBlockLink} number=${Number(blockNumber)} />`,
      html`<${AccountLink} address=${from} />`,
      to === null ? "new contract" : html`<${AccountLink} address=${to} />`,
      ether(value),
      to !== null && input.length >= 10 ? html`<code>${input.slice(0, 10)}</code>` : "–",
    ])} />`;
}
