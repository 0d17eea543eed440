import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { FanalBeacon } from "./fanal-beacon.ts";

/** A Fanal dev chain that others can join, and its network directory. */
export class FanalChain {
  readonly fanal: FanalBeacon;
  /** With the chain's config.yaml and genesis.ssz. */
  readonly networkDirectory: string;
  readonly bootnodes: readonly string[];

  static async start(args: readonly string[]): Promise<FanalChain> {
    const directory = tempDirectory();
    const fanal = await FanalBeacon.start(["dev", "--p2p", "--data-dir", directory, ...args]);
    await fanal.program.untilLine(/Another node joins with/);
    return new FanalChain(fanal, join(directory, "network"));
  }

  private constructor(fanal: FanalBeacon, networkDirectory: string) {
    this.fanal = fanal;
    this.networkDirectory = networkDirectory;
    this.bootnodes = readFileSync(join(networkDirectory, "bootstrap_nodes.txt"), "utf8").trim().split("\n");
  }
}
