import { join } from "node:path";
import { onTestFinished } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { FanalBeacon } from "./fanal-beacon.ts";
import { SLOTS_PER_EPOCH } from "./following.ts";
import { showLastLinesOnFailure } from "./last-lines.ts";
import { LodestarBeacon, type LodestarDevOptions } from "./lodestar-beacon.ts";
import { writeNetworkOf } from "./lodestar-network.ts";

const VALIDATORS = 16;
/** Slots of history before others join. */
const EPOCHS_BEFORE = 2;

/** A Lodestar chain with some history. Others know it only through its API. */
export class LodestarChain {
  readonly lodestar: LodestarBeacon;
  readonly #network: string;

  static async start(
    options: Pick<LodestarDevOptions, "forkEpochs" | "supernode" | "install">,
  ): Promise<LodestarChain> {
    const directory = tempDirectory();
    const lodestar = await LodestarBeacon.dev({
      ...options,
      validators: VALIDATORS,
      directory,
      whenDone: onTestFinished,
    });
    showLastLinesOnFailure("Lodestar", lodestar.processes);
    await lodestar.meanwhile(lodestar.rest.untilHead(EPOCHS_BEFORE * SLOTS_PER_EPOCH));
    return new LodestarChain(lodestar, await writeNetworkOf(lodestar.rest, join(directory, "network")));
  }

  private constructor(lodestar: LodestarBeacon, network: string) {
    this.lodestar = lodestar;
    this.#network = network;
  }

  /** A Fanal node without the chain. */
  join(args: readonly string[]): Promise<FanalBeacon> {
    return FanalBeacon.start(["node", "--network", this.#network, "--data-dir", tempDirectory(), ...args]);
  }
}
