import { Program } from "../support/program/program.ts";
import { BeaconRest } from "./beacon-rest.ts";
import { showLastLinesOnFailure } from "./last-lines.ts";

/** The real program as a node among others. */
export class FanalBeacon {
  readonly program: Program;
  readonly rest: BeaconRest;

  /** Starts a command of the program on free ports. */
  static async start(args: readonly string[]): Promise<FanalBeacon> {
    const ports = ["--p2p-port", "0", "--rest", "--rest-port", "0"];
    const log = ["--log-level", "DEBUG"];
    const program = await Program.served([...args, ...ports, "--p2p-address", "127.0.0.1", ...log]);
    showLastLinesOnFailure("Fanal", [program]);
    const restUrl = (await program.untilLine(/REST is served at (http:\S+)/))[1]!;
    return new FanalBeacon(program, new BeaconRest(restUrl));
  }

  private constructor(program: Program, rest: BeaconRest) {
    this.program = program;
    this.rest = rest;
  }

  /** Peer ids in the mesh of the block topic. */
  async blockMesh(): Promise<string[]> {
    const { mesh } = (await this.program.call("debug_getGossipSubPeers")) as {
      mesh: Record<string, { peerId: string }[]>;
    };
    const topics = Object.entries(mesh).filter(([topic]) => topic.endsWith("/beacon_block/ssz_snappy"));
    return topics.flatMap(([, peers]) => peers.map(({ peerId }) => peerId));
  }
}
