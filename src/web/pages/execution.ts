import { html } from "htm/preact";
import { aligned, counted, grouped, percent, timeText } from "../format.ts";
import { hasEvm, useChain } from "../live.ts";
import { node } from "../node.ts";
import { minor, minorNumeric, numeric } from "../parts/column.ts";
import { Table } from "../parts/fields.ts";
import { AccountLink, ExecutionBlockLink } from "../parts/links.ts";
import { Show, useLoaded } from "../parts/loading.ts";
import { RangeNav } from "../parts/range-nav.ts";
import { Skeleton } from "../parts/skeleton.ts";
import { type FullBlock, readBlocks, readLatestNumber } from "./execution/reads.ts";
import { Transactions } from "./execution/transactions.ts";

const SHOWN_BLOCKS = 20;
const SHOWN_TRANSACTIONS = 50;

/** Lists execution blocks, their transactions and the unlocked accounts. The subject is the newest block to show. */
export function ExecutionPage({ subject }: { subject: string | undefined }) {
  const { head } = useChain();
  const isPast = subject !== undefined && /^\d{1,15}$/.test(subject);
  const loaded = useLoaded(
    async (signal) => {
      const latest = await readLatestNumber(signal);
      return {
        latest,
        blocks: await readBlocks(isPast ? Math.min(Number(subject), latest) : latest, SHOWN_BLOCKS, signal),
      };
    },
    [subject, isPast || head.head_block_root],
  );
  if (hasEvm.value === false)
    return html`<h1>Execution</h1><p>This node does not execute payloads itself. Its execution client has the blocks.</p>`;
  return html`<h1>Execution</h1>
    ${
      loaded.value === undefined && loaded.error === undefined
        ? html`<${Skeleton} />`
        : html`<${Show} of=${loaded}>
            ${({ latest, blocks }: { latest: number; blocks: FullBlock[] }) => html`<${Blocks} latest=${latest} blocks=${blocks} />`}
          <//>`
    }
    <${Accounts} head=${head.head_block_root} />`;
}

function Blocks({ latest, blocks }: { latest: number; blocks: readonly FullBlock[] }) {
  const newest = Number(blocks[0]?.number ?? 0);
  const oldest = Number(blocks.at(-1)?.number ?? 0);
  const newer = newest + SHOWN_BLOCKS;
  const baseFees = aligned(
    blocks.map(({ baseFeePerGas }) => baseFeePerGas),
    9,
  );
  const transactions = blocks.flatMap((block) => block.transactions.toReversed());
  return html`<h2>Blocks</h2>
    <${RangeNav} label="Other blocks" text=${`Blocks ${grouped(oldest)} to ${grouped(newest)}`}
      older=${oldest > 0 ? `#/execution/${oldest - 1}` : undefined}
      newer=${newest < latest ? (newer >= latest ? "#/execution" : `#/execution/${newer}`) : undefined} latest="#/execution" />
    <${Table} caption="Execution blocks" empty="" head=${["number", "time (UTC)", numeric("transactions"), minorNumeric("gas used"), minorNumeric("base fee (Gwei)"), minor("fee recipient")]}
      rows=${blocks.map(({ number, timestamp, transactions: included, gasUsed, gasLimit, miner }, index) => [
        html`<${ExecutionBlockLink} number=${Number(number)} />`,
        timeText(Number(timestamp)),
        included.length,
        `${grouped(BigInt(gasUsed))}, ${percent(Number(gasUsed) / Number(gasLimit))}`,
        baseFees[index],
        miner === null ? "–" : html`<${AccountLink} address=${miner} />`,
      ])} />
    <h2>Transactions</h2>
    ${transactions.length > 0 && html`<p>${counted(transactions.length, "transaction")} in these blocks${transactions.length > SHOWN_TRANSACTIONS && `, the last ${SHOWN_TRANSACTIONS}:`}</p>`}
    <${Transactions} of=${transactions.slice(0, SHOWN_TRANSACTIONS)} caption="Transactions" empty="These blocks have no transactions." />`;
}

/** Lists the accounts for which the node has the keys. */
function Accounts({ head }: { head: string }) {
  const accounts = useLoaded(
    async (signal) => {
      const addresses = await node.eth_accounts({}, { signal });
      return Promise.all(
        addresses.map(async (address) => ({
          address,
          balance: await node.eth_getBalance({ address }, { signal }),
          nonce: await node.eth_getTransactionCount({ address }, { signal }),
        })),
      );
    },
    [head],
  );
  return html`<h2>Accounts</h2>
    <${Show} of=${accounts}>
      ${(list: NonNullable<typeof accounts.value>) => {
        const balances = aligned(
          list.map(({ balance }) => balance),
          18,
        );
        return html`<${Table} caption="Accounts" empty="The node has no keys of accounts." head=${["account", numeric("balance (ETH)"), numeric("nonce")]}
          rows=${list.map(({ address, nonce }, index) => [html`<${AccountLink} address=${address} />`, balances[index], Number(nonce)])} />`;
      }}
    <//>`;
}
