import type { ChainHead, NodeProcess } from "../support/node-process.ts";
import { quantile } from "../support/statistics.ts";
import { ChainWatch } from "./chain-watch.ts";
import { DevNetwork, SLOTS_PER_EPOCH } from "./dev-network.ts";
import { headDifferences } from "./head-differences.ts";
import { untilJoined } from "./joined.ts";
import { heading, mebibytes, table } from "./table.ts";

/** Validators per node when they are split over three nodes. */
const SHARES = ["0-21", "22-42", "43-63"] as const;
const firstOfShare = SHARES.map((share) => Number.parseInt(share, 10));
const SLOT_SECONDS = 2;
/** Fraction of the slot at which heads are polled: after attestations and aggregates, before the next block. */
const POLLED_AT = 0.9;

/** Runs three nodes. Returns false if their heads differ or finality stalls. */
export async function benchAgreement(epochs: number): Promise<boolean> {
  const results: boolean[] = [];
  for (const isSplit of [false, true]) results.push(await agreement(isSplit, epochs));
  return results.every(Boolean);
}

function agreement(isSplit: boolean, epochs: number): Promise<boolean> {
  heading(`Three nodes, ${isSplit ? "the validators split over them" : "all validators in the first"}`);
  const options = { fork: "fulu", slotSeconds: SLOT_SECONDS, warmupEpochs: 3 } as const;
  return DevNetwork.with({ ...options, validators: isSplit ? SHARES[0] : "all" }, async (network) => {
    const others = [SHARES[1], SHARES[2]].map((share) =>
      network.start({ flags: isSplit ? ["--dev-validators", share] : [] }),
    );
    const nodes = [network.first, ...(await Promise.all(others))];
    await untilJoined(nodes);
    await untilFinal(network);
    const start = (Math.ceil(network.time / SLOTS_PER_EPOCH) + 1) * SLOTS_PER_EPOCH;
    await network.untilTime(start - 0.05);
    const watches = await Promise.all(nodes.map((node) => ChainWatch.of(node)));
    const before = nodes.map(({ usage }) => usage);
    const agreed = await followEpochs(network, nodes, start, epochs);
    const after = nodes.map(({ usage }) => usage);
    await Promise.all(watches.map((watch) => watch.close()));

    const proposers = await proposersOf(network.first, start / SLOTS_PER_EPOCH, epochs);
    printPropagation(watches, (slot) => (isSplit ? shareOf(proposers.get(slot)!) : 0));
    printDifferences(watches, epochs);
    const row = table("process", "CPU s per minute", "RSS");
    const minutes = (epochs * SLOTS_PER_EPOCH * SLOT_SECONDS) / 60;
    for (const [index, { name }] of nodes.entries()) {
      const cpu = (after[index]!.cpuSeconds - before[index]!.cpuSeconds) / minutes;
      row(name, cpu.toFixed(2), mebibytes(after[index]!.residentBytes));
    }
    return agreed;
  });
}

/** Waits for finality, which may lag until the other nodes' validators attest. */
async function untilFinal({ first }: DevNetwork): Promise<void> {
  await first.callUntil<ChainHead>(
    "getChainHead",
    ({ head_slot, finalized_slot }) => Number(head_slot) - Number(finalized_slot) < 3 * SLOTS_PER_EPOCH,
    { pollMs: 1000 },
  );
}

/** Prints a row per epoch. Returns false if heads differ at the end of a slot, or finality is not two epochs behind. */
async function followEpochs(
  network: DevNetwork,
  nodes: readonly NodeProcess[],
  start: number,
  epochs: number,
): Promise<boolean> {
  const row = table(
    "epoch",
    "slots with equal heads",
    ...nodes.map(({ name }) => `${name}: head, justified, finalized`),
  );
  let isGood = true;
  for (let epoch = start / SLOTS_PER_EPOCH; epoch < start / SLOTS_PER_EPOCH + epochs; epoch++) {
    let agreeing = 0;
    let heads: ChainHead[] = [];
    for (let slot = epoch * SLOTS_PER_EPOCH; slot < (epoch + 1) * SLOTS_PER_EPOCH; slot++) {
      await network.untilTime(slot + POLLED_AT);
      heads = await Promise.all(nodes.map((node) => node.head()));
      if (new Set(heads.map((head) => JSON.stringify(head))).size === 1) agreeing++;
    }
    row(epoch, `${agreeing} of ${SLOTS_PER_EPOCH}`, ...heads.map(inShort));
    const isFinal = heads.every(({ finalized_slot }) => Number(finalized_slot) === (epoch - 2) * SLOTS_PER_EPOCH);
    if (agreeing < SLOTS_PER_EPOCH || !isFinal) isGood = false;
  }
  return isGood;
}

const inShort = ({ head_slot, head_block_root, justified_slot, finalized_slot }: ChainHead) =>
  `${head_slot} (${head_block_root.slice(2, 8)}), ${justified_slot}, ${finalized_slot}`;

async function proposersOf(node: NodeProcess, firstEpoch: number, epochs: number): Promise<Map<number, number>> {
  const proposers = new Map<number, number>();
  for (let epoch = firstEpoch; epoch < firstEpoch + epochs; epoch++) {
    const duties = await node.call<{ slot: string; validator_index: string }[]>("get_v1_validator_duties_proposer", [
      String(epoch),
    ]);
    for (const { slot, validator_index } of duties) proposers.set(Number(slot), Number(validator_index));
  }
  return proposers;
}

const shareOf = (validator: number) => firstOfShare.findLastIndex((first) => first <= validator);

function printPropagation(watches: readonly ChainWatch[], proposingNode: (slot: number) => number): void {
  const delays: number[] = [];
  const proposed = new Map<string, { node: number; at: number }>();
  for (const [node, { blocks }] of watches.entries()) {
    for (const { slot, root, at } of blocks) if (proposingNode(slot) === node) proposed.set(root, { node, at });
  }
  for (const [node, { blocks }] of watches.entries()) {
    for (const { root, at } of blocks) {
      const origin = proposed.get(root);
      if (origin && origin.node !== node) delays.push(at - origin.at);
    }
  }
  const at = (share: number) => quantile(delays, share).toFixed(0);
  console.log(
    `\n${proposed.size} blocks. From a block's event at its proposer to another node: median ${at(0.5)} ms, ` +
      `p95 ${at(0.95)} ms, from ${at(0)} to ${at(1)} ms (${delays.length} times).`,
  );
}

function printDifferences(watches: readonly ChainWatch[], epochs: number): void {
  const slotMs = SLOT_SECONDS * 1000;
  const { stretches, overSlots } = headDifferences(
    watches.map(({ heads }) => heads),
    slotMs,
  );
  const total = stretches.reduce((sum, length) => sum + length, 0);
  const share = total / (epochs * SLOTS_PER_EPOCH * slotMs);
  console.log(
    `Heads differed ${stretches.length} times: median ${quantile(stretches, 0.5).toFixed(0)} ms, ` +
      `longest ${quantile(stretches, 1).toFixed(0)} ms, ${(share * 100).toFixed(1)} % of the time; ` +
      `${overSlots} times for a slot or longer.\n`,
  );
}
