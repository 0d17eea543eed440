import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { BeaconRest, until } from "../../test/interop/beacon-rest.ts";

const BIN = fileURLToPath(new URL("../../bin/fanal.js", import.meta.url));

/** The real program, with REST and a place among other nodes on free ports; it connects to those alone that it is told of. */
export class FanalProcess {
  readonly rest: BeaconRest;
  readonly #child: ChildProcess;

  static async start(args: readonly string[], whenDone: (end: () => Promise<void>) => void): Promise<FanalProcess> {
    const common = ["--p2p-port", "0", "--p2p-address", "127.0.0.1", "--no-discovery", "--rest", "--rest-port", "0"];
    const child = spawn(process.execPath, [BIN, ...args, ...common], { stdio: ["ignore", "pipe", "inherit"] });
    const closed = once(child, "close");
    whenDone(async () => {
      child.kill("SIGTERM");
      await closed;
    });
    const { promise: url, resolve, reject } = Promise.withResolvers<string>();
    createInterface({ input: child.stdout })
      .on("line", (line) => {
        const announced = line.match(/REST is served at (http:\S+)/)?.[1];
        if (announced !== undefined) resolve(announced);
      })
      .on("close", () => reject(new Error("The program ended before it served REST.")));
    return new FanalProcess(child, await url);
  }

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.rest = new BeaconRest(url);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Where others connect to, as soon as it listens. */
  async address(): Promise<string> {
    const [address] = await until(
      async () => (await this.rest.get<{ p2p_addresses: string[] }>("/eth/v1/node/identity")).p2p_addresses,
      (addresses) => addresses.length > 0,
    );
    return address!;
  }
}
