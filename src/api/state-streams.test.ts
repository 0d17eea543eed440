import type { CompositeTypeAny } from "@chainsafe/ssz";
import type { CachedBeaconStateAllForks } from "@lodestar/state-transition";
import { type phase0, ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { SharedStream } from "../json/shared-stream.ts";
import { RegistrySnapshots } from "./registry-snapshots.ts";
import { StateStreams } from "./state-streams.ts";

const FORKS = ["phase0", "altair", "bellatrix", "capella", "deneb", "electra", "fulu", "gloas"] as const;
const COUNT = 4096 + 5;

const validators: phase0.Validator[] = Array.from({ length: COUNT }, (_, index) => ({
  pubkey: new Uint8Array(48).fill(index),
  withdrawalCredentials: new Uint8Array(32).fill(index >> 8),
  effectiveBalance: 32e9 + index,
  slashed: index % 3 === 0,
  activationEligibilityEpoch: index,
  activationEpoch: index + 1,
  exitEpoch: index % 2 === 0 ? Number.POSITIVE_INFINITY : index + 2,
  withdrawableEpoch: index % 5 === 0 ? Number.POSITIVE_INFINITY : index + 3,
}));

async function read(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // Reads the stream as another thread would.
  const there = stream instanceof SharedStream ? SharedStream.of(structuredClone(stream.descriptor)) : stream;
  for await (const chunk of there) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

it.each(FORKS.flatMap((fork) => [[fork, COUNT] as const, [fork, 0] as const]))(
  "writes a state of %s with %i validators as the library does, in JSON and SSZ",
  async (fork, count) => {
    const type = ssz[fork].BeaconState as unknown as CompositeTypeAny;
    const some = validators.slice(0, count);
    const value = {
      ...ssz[fork].BeaconState.defaultValue(),
      slot: 77,
      historicalRoots: [new Uint8Array(32).fill(1)],
      validators: some,
      balances: some.map((_, index) => 2 ** 35 + index),
    };
    const state = type.toViewDU(value) as unknown as CachedBeaconStateAllForks;
    const states = new StateStreams(new RegistrySnapshots());
    expect((await read(await states.json(state))).toString()).toBe(JSON.stringify(type.toJson(value)));
    const serialized = Buffer.from(type.serialize(value));
    const stream = await states.ssz(state);
    expect((await read(stream)).equals(serialized)).toBe(true);
    if (stream instanceof SharedStream) expect(stream.length).toBe(serialized.length);
  },
);

it("stops building for an aborted call, and builds once for concurrent calls", async () => {
  const type = ssz.fulu.BeaconState;
  const state = type.toViewDU({
    ...type.defaultValue(),
    validators,
    balances: validators.map(() => 1),
  }) as unknown as CachedBeaconStateAllForks;
  const states = new StateStreams(new RegistrySnapshots());
  const gone = new AbortController();
  const first = states.json(state, gone.signal);
  gone.abort(new Error("gone"));
  await expect(first).rejects.toThrow("gone");
  const [one, other] = await Promise.all([states.json(state), states.json(state)]);
  expect((one as SharedStream).descriptor.input).toBe((other as SharedStream).descriptor.input);
});
