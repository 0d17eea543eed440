import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { LodestarBeacon } from "../../test/interop/lodestar-beacon.ts";
import { FanalProcess } from "./fanal-process.ts";
import { type SyncSpeed, syncSpeed } from "./sync-speed.ts";

type WhenDone = (end: () => Promise<void>) => void;

/** A node that others can sync from. */
export interface Source {
  rest: FanalProcess["rest"];
  address: string;
}

/** Starts nodes of one chain in directories of their own. */
export class Nodes {
  readonly #directory: string;
  readonly #chainDirectory: string;

  constructor(directory: string) {
    this.#directory = directory;
    this.#chainDirectory = join(directory, "chain");
  }

  /** The node that makes the chain; its slots are so long that it does next to nothing once the history is there. */
  async makeChain(fork: string, epochs: number, whenDone: WhenDone): Promise<Source> {
    const chain = ["--fork", fork, "--validators", "64", "--slot-seconds", "60", "--warmup-epochs", String(epochs)];
    const maker = await FanalProcess.start(["dev", "--p2p", "--data-dir", this.#chainDirectory, ...chain], whenDone);
    await maker.rest.untilHead(epochs * 8, Number.POSITIVE_INFINITY);
    return { rest: maker.rest, address: await maker.address() };
  }

  /** A node of ours syncs the whole chain. */
  async syncFanal(source: Source, whenDone: WhenDone): Promise<SyncSpeed> {
    const { slot } = await source.rest.head();
    const args = ["--network", join(this.#chainDirectory, "network"), "--data-dir", this.#newDirectory()];
    const node = await FanalProcess.start(["node", ...args, "--peer", source.address], whenDone);
    return syncSpeed(node.rest, node.pid, slot);
  }

  /** A node of Lodestar's syncs the whole chain, and can be synced from afterwards. */
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
