import { onTestFailed, onTestFinished } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { Program } from "../support/program/program.ts";
import { writeLodestarConfig } from "./lodestar-config.ts";
import { startLodestarValidator } from "./lodestar-validator.ts";

const VALIDATORS = 16;
const LAST_LINES = 60;

export const GRAFFITI = "signed by Lodestar";

export const GRAFFITI_BYTES = `0x${Buffer.from(GRAFFITI).toString("hex").padEnd(64, "0")}`;

export interface BlockMessage {
  slot: string;
  body: { graffiti: string; sync_aggregate?: { sync_committee_bits: string } };
}

interface ChainHead {
  finalized_slot: string;
}

/** A chain that Lodestar can connect to. */
interface ServedChain {
  program: Program;
  /** Flags of Lodestar's commands for this chain. */
  lodestarFlags: readonly string[];
  /** Working directory of Lodestar. */
  directory: string;
}

interface LodestarChainOptions {
  /** More flags of the chain. */
  flags?: readonly string[];
  /** Returns the flags that give the client its keys. By default it has the interop keys. */
  keyFlags?: (chain: ServedChain) => Promise<readonly string[]>;
}

/** A dev chain without validators, driven by Lodestar's validator client over REST until it finalizes a slot. */
export async function chainFinalizedByLodestar(
  fork: string,
  slot: number,
  { flags = [], keyFlags }: LodestarChainOptions = {},
): Promise<{ program: Program; finalizedSlot: number }> {
  const program = await Program.dev([
    ...["--fork", fork, ...flags],
    ...["--validators", String(VALIDATORS)],
    ...["--dev-validators", "none"],
    ...["--warmup-epochs", "0"],
    ...["--slot-seconds", "2"],
    ...["--data-dir", tempDirectory()],
    ...["--rest", "--rest-port", "0"],
  ]);
  const restUrl = (await program.untilLine(/REST is served at (http:\S+)/))[1]!;
  const directory = tempDirectory();
  const chain = ["--paramsFile", await writeLodestarConfig(restUrl, directory)];
  const lodestarFlags = ["--network", "dev", "--beaconNodes", restUrl, "--dataDir", directory, ...chain];
  const client = startLodestarValidator({
    restUrl,
    validators: (await keyFlags?.({ program, lodestarFlags, directory })) ?? [0, VALIDATORS - 1],
    chain,
    graffiti: GRAFFITI,
    directory,
    whenDone: onTestFinished,
  });
  onTestFailed(() => {
    console.error(`The last lines of the node:\n${program.lines.slice(-LAST_LINES).join("\n")}`);
    console.error(`The last lines of the client:\n${client.lines.slice(-LAST_LINES).join("\n")}`);
  });
  const finalized = program.callUntil<ChainHead>("getChainHead", (head) => Number(head.finalized_slot) >= slot);
  const head = await Promise.race([finalized, client.ended]);
  return { program, finalizedSlot: Number(head.finalized_slot) };
}

/** The canonical blocks after genesis, without slots that the client missed. */
export async function blocksUpTo(program: Program, lastSlot: number): Promise<BlockMessage[]> {
  const slots = Array.from({ length: lastSlot }, (_, index) => index + 1);
  const replies = await program.batch(slots.map((slot) => ["get_v1_beacon_blocks_blockId", [slot]]));
  return replies.flatMap(({ result }) => (result === undefined ? [] : [result.message]));
}
