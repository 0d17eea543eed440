import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type BenchedChain, withDevChain } from "../support/dev-chain.ts";
import { describeMachine } from "../support/machine.ts";
import { bytesIn } from "../support/temp-directory.ts";

const VALIDATORS = 64;
const MIB = 2 ** 20;
const COLUMNS = [
  "epochs",
  "blocks/s",
  "RSS",
  "heap committed",
  "heap used",
  "external",
  "database",
  "fork choice nodes",
];

/** Runs phase 0 from genesis (minimal preset) at full speed. */
export async function runLongChain(epochs: number): Promise<void> {
  console.log(`${describeMachine()}; ${VALIDATORS} validators, phase0, ${epochs} epochs; sizes in MiB\n`);
  await withDevChain({ validators: VALIDATORS, forks: [], epochs }, async (benched) => {
    const { clock, chain } = benched.devChain;
    console.log(row(COLUMNS));
    console.log(row(COLUMNS.map(() => "---:")));
    let blocks = 0;
    chain.events.on("block", () => blocks++);
    let since = performance.now();
    for (let epoch = 1; epoch <= epochs; epoch++) {
      await clock.advanceTo(epoch * SLOTS_PER_EPOCH);
      if (!isReportedAt(epoch)) continue;
      const perSecond = blocks / ((performance.now() - since) / 1000);
      console.log(row([String(epoch), perSecond.toFixed(1), ...figuresOf(benched)]));
      requireHealth(benched, epoch);
      blocks = 0;
      since = performance.now();
    }
  });
}

/** Reports more often at first, while caches and compiled code still grow. */
function isReportedAt(epoch: number): boolean {
  return epoch % 500 === 0 || (epoch < 500 && epoch % 100 === 0);
}

function figuresOf({ devChain: { chain }, db }: BenchedChain): string[] {
  globalThis.gc?.();
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  const forkChoiceNodes = [...chain.forkChoice.all()].length;
  return [
    ...[rss, heapTotal, heapUsed, external, bytesIn(db.path)].map((bytes) => (bytes / MIB).toFixed(1)),
    `${forkChoiceNodes}`,
  ];
}

function requireHealth({ devChain: { chain } }: BenchedChain, epoch: number): void {
  const { finalized } = chain.forkChoice;
  if (chain.head.slot === epoch * SLOTS_PER_EPOCH && finalized.epoch === epoch - 2) return;
  throw new Error(
    `In epoch ${epoch} the head is at slot ${chain.head.slot} and the finalized epoch is ${finalized.epoch}; the chain fell behind.`,
  );
}

const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
