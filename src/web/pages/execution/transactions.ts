import { html } from "htm/preact";
import type { EthTransaction } from "../../../client/index.ts";
import { aligned } from "../../format.ts";
import { minor, numeric } from "../../parts/column.ts";
import { Table } from "../../parts/fields.ts";
import { AccountLink, ExecutionBlockLink, TransactionLink } from "../../parts/links.ts";

interface TransactionsProps {
  of: readonly EthTransaction[];
  caption: string;
  empty: string;
}

export function Transactions({ of, caption, empty }: TransactionsProps) {
  const values = aligned(
    of.map(({ value }) => value),
    18,
  );
  return html`<${Table} caption=${caption} empty=${empty} head=${["transaction", minor("block"), minor("from"), "to", numeric("value (ETH)"), minor("method")]}
    rows=${of.map(({ hash, blockNumber, from, to, input }, index) => [
      html`<${TransactionLink} hash=${hash} />`,
      blockNumber === null ? "pending" : html`<${ExecutionBlockLink} number=${Number(blockNumber)} />`,
      html`<${AccountLink} address=${from} />`,
      to === null ? "new contract" : html`<${AccountLink} address=${to} />`,
      values[index],
      to !== null && input.length >= 10 ? html`<code>${input.slice(0, 10)}</code>` : "–",
    ])} />`;
}
