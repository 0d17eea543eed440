import { BeaconRest, until } from "../../test/interop/beacon-rest.ts";
import { ProgramProcess } from "../../test/support/program/program-process.ts";

/** Fanal with REST and p2p on free ports. It connects only to the given peers. */
export class FanalProcess {
  readonly rest: BeaconRest;
  readonly pid: number;

  static async start(args: readonly string[], whenDone: (end: () => Promise<void>) => void): Promise<FanalProcess> {
    const common = ["--p2p-port", "0", "--p2p-address", "127.0.0.1", "--no-discovery", "--rest", "--rest-port", "0"];
    const program = new ProgramProcess([...args, ...common]);
    whenDone(async () => {
      await program.stop();
    });
    return new FanalProcess(program.pid, (await program.untilLine(/REST is served at (http:\S+)/))[1]!);
  }

  private constructor(pid: number, url: string) {
    this.pid = pid;
    this.rest = new BeaconRest(url);
  }

  /** Waits until the node listens. Returns its multiaddr. */
  async address(): Promise<string> {
    const [address] = await until(
      async () => (await this.rest.get<{ p2p_addresses: string[] }>("/eth/v1/node/identity")).p2p_addresses,
      (addresses) => addresses.length > 0,
    );
    return address!;
  }
}
