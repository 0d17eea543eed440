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

/** Sends one batch. Resolves with the number of messages, requests or connections. */
type Flood = (adversary: Adversary, target: FloodTarget) => Promise<number>;

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
const topicOf = ({ topics }: FloodTarget, kind: string) => topics.find((topic) => topic.includes(`/${kind}`))!;

async function publishAll(adversary: Adversary, topic: string, data: Uint8Array[]): Promise<number> {
  return (await adversary.publish(...data.map((each) => ({ topic, data: each })))) ? data.length : 0;
}

/** Attestation for a future slot, otherwise well-formed. The node ignores it instead of rejecting it. */
function earlyAttestation(slot: number): Uint8Array {
  const attestation = ssz.phase0.Attestation.defaultValue();
  attestation.data.slot = slot + 100;
  attestation.data.beaconBlockRoot = randomBytes(32);
  return compressSync(ssz.phase0.Attestation.serialize(attestation));
}

/** Attester slashing of the maximum size. */
function slashing(): Uint8Array {
  const value = ssz.phase0.AttesterSlashing.defaultValue();
  value.attestation1.attestingIndices = times(2048, () => 1);
  value.attestation2.attestingIndices = times(2048, () => 2);
  value.attestation1.signature = randomBytes(96);
  return compressSync(ssz.phase0.AttesterSlashing.serialize(value));
}

async function sendRequests(adversary: Adversary, protocol: Protocol, body: Uint8Array): Promise<number> {
  await Promise.all(times(8, () => adversary.ask(protocol, encodePayload(body))));
  return 8;
}

export const FLOODS: Record<string, Flood> = {
  "garbage on a topic": (adversary, target) =>
    publishAll(
      adversary,
      topicOf(target, "beacon_block"),
      times(200, () => randomBytes(300)),
    ),
  "ignored attestations": (adversary, target) =>
    publishAll(
      adversary,
      topicOf(target, "beacon_attestation"),
      times(200, () => earlyAttestation(target.slot)),
    ),
  "large slashings": (adversary, target) =>
    publishAll(adversary, topicOf(target, "attester_slashing"), times(20, slashing)),
  pings: (adversary) => sendRequests(adversary, { name: "ping", version: 1 }, Buffer.alloc(8)),
  "ranges of blocks": (adversary) =>
    sendRequests(
      adversary,
      { name: "beacon_blocks_by_range", version: 2 },
      ssz.phase0.BeaconBlocksByRangeRequest.serialize({ startSlot: 1, count: 1024, step: 1 }),
    ),
  connections: async (adversary) => {
    await adversary.connection?.close();
    return 1;
  },
};
