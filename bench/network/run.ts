import { parseArgs } from "node:util";
import { DEV_FORKS, type DevFork } from "../../src/dev/forks.ts";
import { describeMachine } from "../support/machine.ts";
import { benchAgreement } from "./agreement.ts";
import { benchCheckpoint } from "./checkpoint.ts";
import { benchCrowd } from "./crowd.ts";
import { DevNetwork } from "./dev-network.ts";
import { benchDiscovery } from "./discovery.ts";
import { benchIdle } from "./idle.ts";
import { benchInterruption } from "./interruption.ts";
import { benchSync } from "./sync.ts";

const PARTS = ["agreement", "sync", "interruption", "checkpoint", "discovery", "crowd", "idle"] as const;
type Part = (typeof PARTS)[number];

/** Parts that share a long history, which takes long to build. */
const ON_HISTORY: readonly Part[] = ["sync", "interruption", "checkpoint"];
const SLOT_SECONDS = 2;

/** Prints the measurements. Returns false if a part fails. */
export async function benchNetwork(args: string[]): Promise<boolean> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      agreed: { type: "string", default: "10" },
      history: { type: "string", default: "500" },
      fork: { type: "string", multiple: true, default: ["phase0", "fulu"] },
      nodes: { type: "string", default: "20" },
    },
  });
  const unknown = positionals.find((part) => !PARTS.some((each) => each === part));
  if (unknown !== undefined) throw new Error(`There is no part "${unknown}": the parts are ${PARTS.join(", ")}.`);
  const wants = (part: Part) => positionals.length === 0 || positionals.includes(part);
  // Each process adds an exit listener.
  process.setMaxListeners(Number(values.nodes) + 20);
  console.log(describeMachine());
  const results: boolean[] = [];
  if (wants("agreement")) results.push(await benchAgreement(Number(values.agreed)));
  if (ON_HISTORY.some(wants)) {
    for (const fork of DEV_FORKS.filter((each) => values.fork.includes(each))) {
      results.push(await onHistory(fork, Number(values.history), wants));
    }
  }
  if (wants("discovery")) results.push(await benchDiscovery());
  if (wants("crowd")) results.push(await benchCrowd(Number(values.nodes)));
  if (wants("idle")) await benchIdle();
  return results.every(Boolean);
}

function onHistory(fork: DevFork, epochs: number, wants: (part: Part) => boolean): Promise<boolean> {
  return DevNetwork.with({ fork, slotSeconds: SLOT_SECONDS, warmupEpochs: epochs }, async (network) => {
    const follows = !wants("sync") || (await benchSync(network, fork));
    const isWhole = !wants("interruption") || (await benchInterruption(network));
    if (wants("checkpoint")) await benchCheckpoint(network);
    return follows && isWhole;
  });
}
