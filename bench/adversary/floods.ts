import { randomBytes } from "node:crypto";
import { ssz } from "@lodestar/types";
import { compressSync } from "snappy";
import type { Protocol } from "../../src/network/reqresp/protocols.ts";
import { encodePayload } from "../../src/network/reqresp/ssz-snappy.ts";
import type { Adversary } from "../../test/network/adversary/support/adversary.ts";

export interface FloodTarget {
  address: string;
  /** Topics that the node has joined. */
  topics: string[];
  slot: number;
}

/** Sends some more of it, and resolves with how much. */
type Flood = (adversary: Adversary, target: FloodTarget) => Promise<number>;

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
const topicOf = ({ topics }: FloodTarget, kind: string) => topics.find((topic) => topic.includes(`/${kind}`))!;

async function published(adversary: Adversary, topic: string, data: Uint8Array[]): Promise<number> {
  return (await adversary.publish(...data.map((each) => ({ topic, data: each })))) ? data.length : 0;
}

/**
 * Passes all that can be checked without the chain, and is of a slot that nobody accepts yet: ignored, not rejected.
 */
function earlyAttestation(slot: number): Uint8Array {
  const attestation = ssz.phase0.Attestation.defaultValue();
  attestation.data.slot = slot + 100;
  attestation.data.beaconBlockRoot = randomBytes(32);
  return compressSync(ssz.phase0.Attestation.serialize(attestation));
}

/** As large as the type allows. */
function slashing(): Uint8Array {
  const value = ssz.phase0.AttesterSlashing.defaultValue();
  value.attestation1.attestingIndices = times(2048, () => 1);
  value.attestation2.attestingIndices = times(2048, () => 2);
  value.attestation1.signature = randomBytes(96);
  return compressSync(ssz.phase0.AttesterSlashing.serialize(value));
}

async function asked(adversary: Adversary, protocol: Protocol, body: Uint8Array): Promise<number> {
  await Promise.all(times(8, () => adversary.ask(protocol, encodePayload(body))));
  return 8;
}

export const FLOODS: Record<string, Flood> = {
  "garbage on a topic": (adversary, target) =>
    published(
      adversary,
      topicOf(target, "beacon_block"),
      times(200, () => randomBytes(300)),
    ),
  "attestations that are ignored": (adversary, target) =>
    published(
      adversary,
      topicOf(target, "beacon_attestation"),
      times(200, () => earlyAttestation(target.slot)),
    ),
  "large slashings": (adversary, target) =>
    published(adversary, topicOf(target, "attester_slashing"), times(20, slashing)),
  pings: (adversary) => asked(adversary, { name: "ping", version: 1 }, Buffer.alloc(8)),
  "ranges of blocks": (adversary) =>
    asked(
      adversary,
      { name: "beacon_blocks_by_range", version: 2 },
      ssz.phase0.BeaconBlocksByRangeRequest.serialize({ startSlot: 1, count: 1024, step: 1 }),
    ),
  connections: async (adversary) => {
    await adversary.connection?.close();
    return 1;
  },
};
