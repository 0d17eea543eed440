import { ForkName } from "@lodestar/params";
import { type capella, type ExecutionPayload, ssz } from "@lodestar/types";
import { expect, it } from "vitest";
import { BuildingEngine } from "../../../test/support/execution/building-engine.ts";
import { FakeTimers, flushPromises } from "../../../test/support/time/fake-timers.ts";
import {
  type BuiltPayload,
  EngineUnavailableError,
  type ForkchoiceUpdate,
  type PayloadRequest,
  PayloadUnavailableError,
} from "../../execution/engine.ts";
import { createLogger } from "../../log/pino-logger.ts";
import { PayloadBuilder } from "./payload-builder.ts";

const bytes = (n: number, length = 32) => new Uint8Array(length).fill(n);
const config = { getMaxBlobsPerBlock: () => 2 };
const CHECKPOINT = { epoch: 0, root: `0x${"00".repeat(32)}` };
/** Time an engine gets to fill a payload in a mainnet slot. */
const FILLING_MS = 500;
const DEADLINE_MS = 1000;
const HANGING_MS = 4000;

const REQUEST: PayloadRequest = {
  fork: ForkName.electra,
  slot: 9,
  parent: { blockHash: bytes(1), blockNumber: 6 },
  parentBeaconBlockRoot: bytes(2),
  timestamp: 1_700_000_054,
  prevRandao: bytes(3),
  feeRecipient: bytes(4, 20),
  withdrawals: [{ index: 1, validatorIndex: 2, address: bytes(5, 20), amount: 7n }],
};

function setUp({ secondsPerSlot = 12, speed = 1, buildsAtOnce = false, isFlowing = true } = {}) {
  const engine = Object.assign(new BuildingEngine(), buildsAtOnce && { buildsAtOnce: true as const });
  const timers = new FakeTimers();
  const warnings: string[] = [];
  const { logger } = createLogger({
    format: "text",
    spec: "WARN",
    destination: { write: (line) => warnings.push(line) },
  });
  const builder = new PayloadBuilder({
    config,
    engine,
    forkChoice: { safeRoot: CHECKPOINT.root, finalized: CHECKPOINT, get: () => undefined, isInvalid: () => false },
    clock: { secondsPerSlot, speed, isFlowing },
    logger,
    timers,
  });
  /** Returns the result of a proposal while time passes in steps. */
  const build = async (request: PayloadRequest, ...passing: number[]): Promise<BuiltPayload | Error> => {
    const building = builder.build(request).catch((error: Error) => error);
    await flushPromises();
    for (const ms of passing) await timers.advance(ms);
    const outcome = await Promise.race([building, flushPromises().then(() => "It is still waited for.")]);
    if (typeof outcome === "string") throw new Error(outcome);
    return outcome;
  };
  return { engine, builder, build, timers, warnings };
}

const ids = ({ begun }: BuildingEngine) => begun.map(({ id }) => id);
const unknownId = () => Promise.reject(new PayloadUnavailableError("The engine knows no such payload."));
const silence = () => new Promise<BuiltPayload>(() => {});
const withPayload = (change: Partial<ExecutionPayload>) => async (honest: BuiltPayload) =>
  ({ ...honest, payload: { ...honest.payload, ...change } }) as BuiltPayload;
const withBlobs = (count: number) => async (honest: BuiltPayload) => {
  const commitments = Array.from({ length: count }, (_, index) => bytes(index, 48));
  return { ...honest, blobsBundle: { commitments, proofs: commitments, blobs: commitments } };
};

it("returns a prepared payload at once, and again on request", async () => {
  const { engine, builder, build, warnings } = setUp();
  await builder.prepare(REQUEST);
  const built = await build({ ...REQUEST, withdrawals: [...REQUEST.withdrawals] });
  expect(built).toMatchObject({ payload: { parentHash: bytes(1), blockNumber: 7 } });
  expect(await build(REQUEST)).toEqual(built);
  expect(engine.begun).toHaveLength(1);
  expect(engine.taken).toEqual([...ids(engine), ...ids(engine)]);
  expect(warnings).toEqual([]);
});

it("builds the same payload anew if the engine builds at once", async () => {
  const { engine, build } = setUp({ buildsAtOnce: true });
  await build(REQUEST);
  await build(REQUEST);
  expect(engine.begun).toHaveLength(2);
  expect(engine.taken).toEqual(ids(engine));
});

it("bounds the time of transactions by a share of the slot if the engine builds at once and time flows", async () => {
  const live = setUp({ buildsAtOnce: true });
  await live.build(REQUEST);
  expect(live.engine.begun[0]!.request).toEqual({ ...REQUEST, fillingMs: 2000 });
  for (const { engine, build } of [setUp({ buildsAtOnce: true, isFlowing: false }), setUp()]) {
    await build(REQUEST, FILLING_MS);
    expect(engine.begun[0]!.request).toEqual(REQUEST);
  }
});

it("shares a pending preparation", async () => {
  const { engine, builder, build } = setUp();
  const preparing = builder.prepare(REQUEST);
  expect(await build(REQUEST)).toHaveProperty("payload");
  await preparing;
  expect(engine.begun).toHaveLength(1);
});

const others: [what: string, change: Partial<PayloadRequest>][] = [
  ["parent", { parent: { blockHash: bytes(9), blockNumber: 6 } }],
  ["beacon block before", { parentBeaconBlockRoot: bytes(9) }],
  ["timestamp", { timestamp: 1_700_000_066 }],
  ["randao", { prevRandao: bytes(9) }],
  ["fee recipient", { feeRecipient: bytes(9, 20) }],
  ["withdrawals", { withdrawals: [] }],
];
it.each(others)("starts anew, with time to fill, for another %s", async (_what, change) => {
  const { engine, builder, build } = setUp();
  await builder.prepare(REQUEST);
  await expect(build({ ...REQUEST, ...change }, FILLING_MS - 1)).rejects.toThrow("still waited for");
  expect(engine.taken).toEqual([]);
  // A concurrent request for the same payload does not wait any longer.
  expect(await build({ ...REQUEST, ...change }, 1)).toHaveProperty("payload");
  expect(engine.begun).toHaveLength(2);
  expect(engine.begun.at(-1)).toMatchObject({ request: change });
});

it("keeps the prepared payload while others are requested", async () => {
  const { engine, builder, build } = setUp();
  await builder.prepare(REQUEST);
  await build({ ...REQUEST, feeRecipient: bytes(9, 20) }, FILLING_MS);
  await build({ ...REQUEST, timestamp: 1_700_000_066 }, FILLING_MS);
  await build(REQUEST);
  expect(engine.begun).toHaveLength(3);
  expect(engine.taken.at(-1)).toBe(ids(engine)[0]);
});

it("limits the time to fill in a short slot", async () => {
  const { build } = setUp({ secondsPerSlot: 6, speed: 10 });
  expect(await build(REQUEST, 25)).toHaveProperty("payload");
});

const wrong: [what: string, change: Partial<capella.ExecutionPayload>, complaint: RegExp][] = [
  ["parent", { parentHash: bytes(9) }, /its parent is 0x0909\w+, expected 0x0101/],
  ["block number", { blockNumber: 8 }, /its block number is 8, expected 7/],
  ["timestamp", { timestamp: 1 }, /its timestamp is 1, expected 1700000054/],
  ["randao", { prevRandao: bytes(9) }, /its prev_randao is 0x0909/],
  ["withdrawals", { withdrawals: [] }, /its withdrawals do not match/],
  ["length of its extra data", { extraData: bytes(1, 33) }, /extraData has 33 bytes, at most 32 allowed/],
];
it.each(wrong)("rejects a payload with a wrong %s and requests another", async (_what, change, complaint) => {
  const { engine, builder, build, warnings } = setUp();
  await builder.prepare(REQUEST);
  engine.payloads.push(withPayload(change));
  expect(await build(REQUEST, FILLING_MS)).toMatchObject({ payload: { parentHash: bytes(1), blockNumber: 7 } });
  expect(engine.taken).toEqual(ids(engine));
  expect(engine.begun).toHaveLength(2);
  expect(warnings.join()).toMatch(complaint);

  const other = { ...REQUEST, feeRecipient: bytes(6, 20) };
  engine.payloads.push(withPayload(change), withPayload(change));
  const error = await build(other, FILLING_MS, FILLING_MS);
  expect(error).toBeInstanceOf(EngineUnavailableError);
  expect((error as Error).message).toMatch(complaint);
});

it("rejects more requests than a block can hold, and requests another payload", async () => {
  const { engine, builder, build, warnings } = setUp();
  await builder.prepare(REQUEST);
  const withdrawals = Array.from({ length: 17 }, () => ssz.electra.WithdrawalRequest.defaultValue());
  engine.payloads.push(async (honest) => ({
    ...honest,
    executionRequests: { ...ssz.electra.ExecutionRequests.defaultValue(), withdrawals },
  }));
  expect((await build(REQUEST, FILLING_MS)) as BuiltPayload).not.toMatchObject({ executionRequests: { withdrawals } });
  expect(engine.begun).toHaveLength(2);
  expect(warnings.join()).toMatch(/executionRequests.withdrawals has 17 elements, at most 16 allowed/);
});

it("accepts the maximum number of blobs and requests another payload above it", async () => {
  const { engine, builder, build, warnings } = setUp();
  await builder.prepare(REQUEST);
  engine.payloads.push(withBlobs(3));
  engine.payloads.push(withBlobs(2));
  expect(await build(REQUEST, FILLING_MS)).toMatchObject({
    blobsBundle: { commitments: [bytes(0, 48), bytes(1, 48)] },
  });
  expect(engine.begun).toHaveLength(2);
  expect(warnings.join()).toMatch(/it has 3 blobs, but its slot allows at most 2/);
});

it("accepts another fee recipient with a warning", async () => {
  const { engine, builder, build, warnings } = setUp();
  await builder.prepare(REQUEST);
  engine.payloads.push(withPayload({ feeRecipient: bytes(8, 20) }));
  expect(await build(REQUEST)).toMatchObject({ payload: { feeRecipient: bytes(8, 20) } });
  expect(warnings.join()).toMatch(/another fee recipient.*0x0808/);
});

it("starts anew if the engine forgot the id or times out", async () => {
  const { engine, builder, build } = setUp();
  await builder.prepare(REQUEST);
  engine.payloads.push(unknownId);
  expect(await build(REQUEST, FILLING_MS)).toHaveProperty("payload");
  engine.payloads.push(silence);
  expect(await build(REQUEST, DEADLINE_MS, FILLING_MS)).toHaveProperty("payload");
  expect(engine.begun).toHaveLength(3);
});

it("reports a timeout and falls back to the previous payload", async () => {
  const { engine, build, warnings } = setUp();
  engine.payloads.push(silence, silence);
  const error = await build(REQUEST, FILLING_MS, DEADLINE_MS, FILLING_MS, DEADLINE_MS);
  expect(error).toBeInstanceOf(EngineUnavailableError);
  expect((error as Error).message).toMatch(/did not return its payload for slot 9 within 1000 ms/);

  const built = await build(REQUEST);
  expect(built).toHaveProperty("payload");
  engine.payloads.push(unknownId, silence);
  expect(await build(REQUEST, FILLING_MS, DEADLINE_MS)).toBe(built);
  expect(warnings.at(-1)).toContain("using the previous one");
});

it("retries an unavailable engine for a part of the slot", async () => {
  const { engine, build } = setUp();
  const away = () => Promise.reject(new EngineUnavailableError("The engine is away."));
  engine.updates.push(away, away);
  expect(await build(REQUEST, 100, 100, FILLING_MS)).toHaveProperty("payload");
  engine.updates.push(...Array(11).fill(away));
  const other = { ...REQUEST, feeRecipient: bytes(6, 20) };
  expect(await build(other, ...Array(10).fill(100))).toMatchObject({ message: "The engine is away." });
});

it("stops waiting for a hanging engine after a third of the slot", async () => {
  const { engine, builder, build, timers } = setUp();
  const hanging = () => new Promise<ForkchoiceUpdate>(() => {});
  const tooLate = {
    name: "EngineUnavailableError",
    message: "The execution engine did not start a payload for slot 9 within 4000 ms.",
  };
  engine.updates.push(hanging, hanging);
  expect(await build(REQUEST, HANGING_MS)).toMatchObject(tooLate);

  const other = { ...REQUEST, feeRecipient: bytes(6, 20) };
  void builder.prepare(other);
  await timers.advance(3000);
  // A request is not repeated while its response is pending.
  expect(await build(other, HANGING_MS)).toMatchObject(tooLate);
  expect(engine.updates).toEqual([]);
});

it("starts anew if an awaited preparation fails, within the same timeout", async () => {
  const { engine, builder, build } = setUp();
  const failing = Promise.withResolvers<ForkchoiceUpdate>();
  engine.updates.push(
    () => failing.promise,
    () => new Promise(() => {}),
  );
  void builder.prepare(REQUEST);
  const building = build(REQUEST, 3000, 1000);
  failing.reject(new EngineUnavailableError("The engine is away."));
  expect(await building).toMatchObject({ message: expect.stringContaining("within 4000 ms") });
  expect(engine.updates).toEqual([]);
});

it("gives an engine two seconds in a short slot", async () => {
  const { engine, build } = setUp({ secondsPerSlot: 2 });
  engine.updates.push(() => new Promise(() => {}));
  expect(await build(REQUEST, 2000)).toMatchObject({ message: expect.stringContaining("within 2000 ms") });
});

it("warns once while the engine prepares nothing", async () => {
  const { engine, builder, warnings } = setUp();
  const away = () => Promise.reject(new EngineUnavailableError("The engine is away."));
  engine.updates.push(away, away);
  for (let slot = 0; slot < 3; slot++) await builder.prepare(REQUEST);
  expect(warnings).toHaveLength(1);
  engine.updates.push(away);
  await builder.prepare(REQUEST);
  expect(warnings).toHaveLength(2);
});

it("warns once while payloads are unusable", async () => {
  const { engine, build, warnings } = setUp();
  const [first, second, third] = [1, 2, 3].map((id) => ({ ...REQUEST, feeRecipient: bytes(id, 20) }));
  for (const request of [first!, second!]) {
    engine.payloads.push(unknownId);
    expect(await build(request, FILLING_MS, FILLING_MS)).toHaveProperty("payload");
  }
  expect(warnings).toHaveLength(1);
  expect(await build(third!, FILLING_MS)).toHaveProperty("payload");
  engine.payloads.push(unknownId);
  await build(first!, FILLING_MS, FILLING_MS);
  expect(warnings).toHaveLength(2);
});

it("keeps a late payload for the next call", async () => {
  const { engine, build } = setUp();
  const late = Promise.withResolvers<void>();
  const lateAnswer = async (honest: BuiltPayload) => {
    await late.promise;
    return { ...honest, value: 5n };
  };
  engine.payloads.push(lateAnswer, silence, unknownId, unknownId);
  expect(await build(REQUEST, FILLING_MS, DEADLINE_MS, FILLING_MS, DEADLINE_MS)).toBeInstanceOf(Error);
  late.resolve();
  expect(await build(REQUEST, FILLING_MS)).toMatchObject({ value: 5n });
});

const refusals: [verdict: ForkchoiceUpdate["verdict"], words: RegExp][] = [
  [{ status: "optimistic" }, /no payload for slot 9: it is syncing/],
  [{ status: "invalid", latestValidHash: null, message: "Its gas is wrong." }, /invalid\. Its gas is wrong\.$/],
  [{ status: "valid" }, /did not start to build/],
];
it.each(refusals)("reports why the engine builds nothing: %o", async (verdict, words) => {
  const { engine, builder, build, warnings } = setUp();
  const nothing = async () => ({ verdict, payloadId: null });
  engine.updates.push(nothing, nothing);
  await builder.prepare(REQUEST);
  expect(warnings.join()).toMatch(/failed to prepare a payload/);
  const error = await build(REQUEST);
  expect(error).toBeInstanceOf(PayloadUnavailableError);
  expect((error as Error).message).toMatch(words);
  // The engine may succeed the next time.
  expect(await build(REQUEST, FILLING_MS)).toHaveProperty("payload");
});

it("does not prepare with an unavailable engine", () => {
  const { engine, builder } = setUp();
  expect(builder.canPrepare).toBe(true);
  engine.state = "offline";
  expect(builder.canPrepare).toBe(false);
});
