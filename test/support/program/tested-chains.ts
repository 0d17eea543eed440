import { ForkName } from "@lodestar/params";
import { makeChainWithGap } from "../chain/chain-with-gap.ts";
import { removableDirectory } from "../directories/removable-directory.ts";
import { ProgramHere } from "./program-here.ts";

interface TestedChain {
  name: string;
  fork: ForkName.phase0 | ForkName.electra;
  /** Epoch of the fulu fork, if any. */
  fuluEpoch?: number;
  /** Fork of the newest blocks. */
  headFork: ForkName;
  /** Versions of all forks of the chain. */
  versions: string[];
}

/** The first fork and the newest, with a fork transition. */
export const TESTED_CHAINS: TestedChain[] = [
  { name: "phase0", fork: ForkName.phase0, headFork: ForkName.phase0, versions: ["0x0000fa4a"] },
  {
    name: "electra that becomes fulu",
    fork: ForkName.electra,
    fuluEpoch: 3,
    headFork: ForkName.fulu,
    versions: ["0x0000fa4a", "0x0100fa4a", "0x0200fa4a", "0x0300fa4a", "0x0400fa4a", "0x0500fa4a", "0x0600fa4a"],
  },
];

/** Starts the program on such a chain, with a clock slow enough to stand still during tests. */
export async function serveTestedChain({
  fork,
  fuluEpoch,
}: TestedChain): Promise<{ program: ProgramHere; end(): Promise<void> }> {
  const { path: directory, remove } = removableDirectory();
  const forkAt = fuluEpoch === undefined ? [] : [{ fork: ForkName.fulu, epoch: fuluEpoch } as const];
  await makeChainWithGap(directory, { fork, forkAt });
  const forkFlags = forkAt.flatMap((activation) => ["--fork-at", `${activation.fork}=${activation.epoch}`]);
  const flags = ["--data-dir", directory, "--validators", "8", "--fork", fork, ...forkFlags, "--speed", "0.001"];
  let end = async () => remove();
  const program = await ProgramHere.dev(flags, {
    whenDone: (kill) => {
      const removeDirectory = end;
      end = () => kill().then(removeDirectory);
    },
  });
  return { program, end: () => end() };
}
