import { html } from "htm/preact";
import { byteSize, ether } from "../../format.ts";
import { useChain } from "../../live.ts";
import { node } from "../../node.ts";
import { Fields } from "../../parts/fields.ts";
import { Show, useLoaded } from "../../parts/loading.ts";
import { readBlocks, readLatestNumber } from "./reads.ts";
import { Transactions } from "./transactions.ts";

/** Nodes do not index accounts, so only recent blocks are searched. */
const SEARCHED_BLOCKS = 64;

export function AccountPage({ subject = "" }: { subject: string | undefined }) {
  const { head } = useChain();
  const address = subject as `0x${string}`;
  const account = useLoaded(
    async (signal) => {
      const [balance, nonce, code] = await Promise.all([
        node.eth_getBalance({ address }, { signal }),
        node.eth_getTransactionCount({ address }, { signal }),
        node.eth_getCode({ address }, { signal }),
      ]);
      return { balance, nonce, code };
    },
    [address, head.head_block_root],
  );
  return html`<h1>Account</h1>
    <p><code>${address}</code></p>
    <${Show} of=${account}>
      ${({ balance, nonce, code }: NonNullable<typeof account.value>) => html`<${Fields} of=${{
        Balance: ether(balance),
        Nonce: Number(nonce),
        Code:
          code === "0x"
            ? "none"
            : html`<details><summary>${byteSize((code.length - 2) / 2)}</summary><code>${code}</code></details>`,
      }} />
      <${Recent} address=${address} head=${head.head_block_root} />`}
    <//>`;
}

function Recent({ address, head }: { address: string; head: string }) {
  const transactions = useLoaded(
    async (signal) => {
      const blocks = await readBlocks(await readLatestNumber(signal), SEARCHED_BLOCKS, signal);
      const isOf = (other: string | null) => other?.toLowerCase() === address.toLowerCase();
      return blocks.flatMap((block) =>
        block.transactions.toReversed().filter(({ from, to }) => isOf(from) || isOf(to)),
      );
    },
    [address, head],
  );
  return html`<h2>Transactions of the last ${SEARCHED_BLOCKS} blocks</h2>
    <${Show} of=${transactions}>
      ${(list: NonNullable<typeof transactions.value>) =>
        html`<${Transactions} of=${list} caption="Transactions of the account" empty="None." />`}
    <//>`;
}
