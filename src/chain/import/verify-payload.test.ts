import { createBeaconConfig, defaultChainConfig } from "@lodestar/config";
import { computeEpochAtSlot } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { expect, it } from "vitest";
import { invalid, ScriptedEngine, SYNCING, VALID } from "../../../test/support/execution/scripted-engine.ts";
import { NoExecutionEngine } from "../../execution/engine.ts";
import { DEFAULT_CHAIN_SETTINGS } from "../settings.ts";
import { payloadVerifier } from "./verify-payload.ts";

const config = createBeaconConfig(
  {
    ...defaultChainConfig,
    ALTAIR_FORK_EPOCH: 0,
    BELLATRIX_FORK_EPOCH: 0,
    CAPELLA_FORK_EPOCH: Number.POSITIVE_INFINITY,
  },
  new Uint8Array(32),
);

const SLOT = 1000;
const HASH = toRootHex(new Uint8Array(32).fill(7));

function blockWith(transactions: Uint8Array[] = [Uint8Array.of(1)]) {
  const signed = ssz.bellatrix.SignedBeaconBlock.defaultValue();
  signed.message.slot = SLOT;
  const payload = signed.message.body.executionPayload;
  Object.assign(payload, { blockHash: new Uint8Array(32).fill(7), blockNumber: 5, transactions });
  return signed;
}

function verify(
  engine: ScriptedEngine | NoExecutionEngine,
  { slot = SLOT, isMergeTransition = false, safeSlots = 128, changed = {} } = {},
) {
  const verifyPayload = payloadVerifier({
    config: { ...config, ...changed },
    clock: { currentSlot: slot },
    engine,
    settings: { safeSlotsToImportOptimistically: safeSlots },
  });
  return verifyPayload(blockWith(), { hasPayload: true, hasEnvelope: false, isMergeTransition });
}

it("returns the engine's verdict", async () => {
  const engine = new ScriptedEngine();
  const known = { blockHash: HASH, blockNumber: 5 };
  await expect(verify(engine)).resolves.toEqual({ status: "valid", ...known });
  engine.otherwise = SYNCING;
  await expect(verify(engine)).resolves.toEqual({ status: "optimistic", ...known });
  engine.otherwise = invalid(HASH);
  await expect(verify(engine)).rejects.toMatchObject({ reason: "invalid-payload", latestValidHash: HASH });
  engine.otherwise = "error";
  await expect(verify(engine)).rejects.toMatchObject({ reason: "engine-unavailable" });
  await expect(verify(new NoExecutionEngine())).resolves.toEqual({ status: "optimistic", ...known });
});

it("rejects an empty transaction without asking the engine, and ignores blocks without a payload", async () => {
  const engine = new ScriptedEngine();
  const verifyPayload = payloadVerifier({
    settings: DEFAULT_CHAIN_SETTINGS,
    config,
    clock: { currentSlot: SLOT },
    engine,
  });
  const read = { hasPayload: true, hasEnvelope: false, isMergeTransition: false };
  const empty = blockWith([Uint8Array.of(1), new Uint8Array()]);
  await expect(verifyPayload(empty, read)).rejects.toThrow(/Transaction 1 .* is empty/);
  const without = { ...read, hasPayload: false };
  await expect(verifyPayload(blockWith(), without)).resolves.toEqual({ status: "pre-merge" });
  await expect(verifyPayload(blockWith(), { ...without, hasEnvelope: true })).resolves.toEqual({ status: "absent" });
  expect(engine.questions).toEqual([]);
});

it("the merge transition block needs a terminal parent or a minimum age", async () => {
  const engine = new ScriptedEngine();
  const first = { isMergeTransition: true };
  await expect(verify(engine, first)).resolves.toMatchObject({ status: "valid" });
  engine.terminalVerdict = "not-terminal";
  for (const verdict of [VALID, SYNCING, invalid(null)]) {
    engine.otherwise = verdict;
    await expect(verify(engine, first)).rejects.toMatchObject({ reason: "wrong-terminal-block" });
  }
  engine.terminalVerdict = "unknown";
  engine.otherwise = VALID;
  await expect(verify(engine, { ...first, slot: SLOT + 127 })).rejects.toMatchObject({
    reason: "unknown-terminal-block",
  });
  await expect(verify(engine, { ...first, slot: SLOT + 128 })).resolves.toMatchObject({ status: "optimistic" });
  await expect(verify(engine, { ...first, slot: SLOT + 7, safeSlots: 7 })).resolves.toMatchObject({
    status: "optimistic",
  });
  engine.otherwise = invalid(null);
  await expect(verify(engine, { ...first, slot: SLOT + 128 })).rejects.toMatchObject({ reason: "invalid-payload" });
  await expect(verify(new NoExecutionEngine(), first)).resolves.toMatchObject({ status: "optimistic" });
});

it("a configured terminal block hash is valid from its activation epoch on", async () => {
  const engine = new ScriptedEngine();
  const epoch = computeEpochAtSlot(SLOT);
  const named = (activation: number) => ({
    isMergeTransition: true,
    changed: { TERMINAL_BLOCK_HASH: new Uint8Array(32).fill(9), TERMINAL_BLOCK_HASH_ACTIVATION_EPOCH: activation },
  });
  await expect(verify(engine, named(epoch))).resolves.toMatchObject({ status: "valid" });
  await expect(verify(engine, named(epoch + 1))).rejects.toMatchObject({ reason: "wrong-terminal-block" });
});
