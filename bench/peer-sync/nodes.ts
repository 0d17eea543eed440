import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { LodestarBeacon } from "../../test/interop/lodestar-beacon.ts";
import { FanalProcess } from "./fanal-process.ts";
import { type SyncSpeed, syncSpeed } from "./sync-speed.ts";

type WhenDone = (end: () => Promise<void>) => void;

/** Node to sync from. */
export interface Source {
  rest: FanalProcess["rest"];
  address: string;
}

/** Starts nodes of one chain, each in its own directory. */
export class Nodes {
  readonly #directory: string;
  readonly #chainDirectory: string;

  constructor(directory: string) {
    this.#directory = directory;
    this.#chainDirectory = join(directory, "chain");
  }

  /** Starts the dev chain. Its slots are so long that it is idle once the history exists. */
  async makeChain(fork: string, epochs: number, whenDone: WhenDone): Promise<Source> {
    const chain = ["--fork", fork, "--validators", "64", "--slot-seconds", "60", "--warmup-epochs", String(epochs)];
    const maker = await FanalProcess.start(["dev", "--p2p", "--data-dir", this.#chainDirectory, ...chain], whenDone);
    await maker.rest.untilHead(epochs * 8, Number.POSITIVE_INFINITY);
    return { rest: maker.rest, address: await maker.address() };
  }

  /** Syncs the whole chain with Fanal. */
  async syncFanal(source: Source, whenDone: WhenDone): Promise<SyncSpeed> {
    const { slot } = await source.rest.head();
    const args = ["--network", join(this.#chainDirectory, "network"), "--data-dir", this.#newDirectory()];
    const node = await FanalProcess.start(["node", ...args, "--peer", source.address], whenDone);
    return syncSpeed(node.rest, node.pid, slot);
  }

  /** Syncs the whole chain with Lodestar. The node can be a source afterwards. */
  async syncLodestar(source: Source, whenDone: WhenDone): Promise<SyncSpeed & Source> {
    const { slot } = await source.rest.head();
    const node = await LodestarBeacon.joining({
      networkDirectory: join(this.#chainDirectory, "network"),
      bootnodes: [],
      directory: this.#newDirectory(),
      whenDone,
    });
    await node.connect(source.address);
    const speed = await node.meanwhile(syncSpeed(node.rest, node.process.pid!, slot));
    return { ...speed, rest: node.rest, address: (await node.identity()).address };
  }

  #newDirectory(): string {
    return mkdtempSync(join(this.#directory, "node-"));
  }
}
