import { ForkName } from "@lodestar/params";
import { makeChainWithGap } from "../chains/chain-with-gap.ts";
import { removableDirectory } from "../directories/removable-directory.ts";
import { ProgramHere } from "./program-here.ts";

interface TestedChain {
  name: string;
  fork: ForkName.phase0 | ForkName.electra;
  /** The epoch from which on the chain is in fulu, if ever. */
  fuluEpoch?: number;
  /** Of the newest blocks. */
  headFork: ForkName;
  /** Of all its forks. */
  versions: string[];
}

/** The first fork and the newest one, with a fork on the way. */
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

/** The program on such a chain, with its clock so slow that the chain stands still while it is looked at. */
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
