import type { bellatrix, ExecutionPayload, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, expect, it } from "vitest";
import { blocksUpTo, type OpenedDevChain, startQuietDevChain } from "../../../test/support/chain/dev-chain.ts";
import { emptyStoredChain, openStoredChain } from "../../../test/support/chain/stored-chain.ts";
import { invalid, ScriptedEngine, SYNCING, VALID } from "../../../test/support/execution/scripted-engine.ts";
import type { EngineBlock } from "../../execution/engine.ts";
import type { ChainBlock } from "../blocks/block-store.ts";

const HEAD = 12;

let source: OpenedDevChain;
/** The block of slot n is at index n - 1. */
let main: ChainBlock[];

beforeAll(async () => {
  source = await startQuietDevChain(HEAD, { validators: 8, forks: [{ fork: "electra", epoch: 0 }] });
  main = await blocksUpTo(source.devChain, HEAD);
});
afterAll(() => source.close());

const payloadOf = ({ signed }: ChainBlock): ExecutionPayload =>
  (signed.message.body as bellatrix.BeaconBlockBody).executionPayload;

/** An engine that finds all payloads valid but, by default, accepts no head. The test controls its latest block. */
class RefusingEngine extends ScriptedEngine {
  headVerdict = SYNCING;
  latest: EngineBlock | null = null;

  override async forkchoiceUpdated() {
    return { verdict: this.headVerdict, payloadId: null };
  }

  async latestBlock(): Promise<EngineBlock | null> {
    return this.latest;
  }
}

const engineBlock = (block: ChainBlock): EngineBlock => ({
  hash: toRootHex(payloadOf(block).blockHash),
  number: payloadOf(block).blockNumber,
});

/**
 * Runs a chain whose engine does not accept the head, and records the blocks sent to the engine in each of 100 slots.
 */
async function openChain() {
  const engine = new RefusingEngine();
  engine.headVerdict = VALID;
  const { chain, clock, complaints } = await openStoredChain(await emptyStoredChain(source.devChain), {
    slot: HEAD,
    engine,
  });
  chain.start();
  await chain.importSegment(main.map(({ signed }) => signed));
  await chain.pendingVerdicts.untilHeadVerdict();
  engine.headVerdict = SYNCING;
  engine.enter("syncing");
  await chain.pendingVerdicts.untilHeadVerdict();
  const sent: [slots: number, blocks: RootHex[]][] = [];
  const runSlots = async (from: number, to: number) => {
    engine.takeHashes("newPayload");
    for (let slots = from; slots <= to; slots++) {
      await clock.advanceTo(HEAD + slots);
      await chain.pendingVerdicts.untilHeadVerdict();
      // As if a proposer had received no payload.
      engine.enter("syncing");
      await chain.pendingVerdicts.untilHeadVerdict();
      const blocks = engine.takeHashes("newPayload");
      if (blocks.length > 0) sent.push([slots, blocks]);
    }
    return sent.splice(0);
  };
  return { engine, runSlots, complaints };
}

const hashes = (from: number, to: number) => main.slice(from - 1, to).map((block) => engineBlock(block).hash);

it("sends nothing to an engine at the head, whatever its verdict", async () => {
  const { engine, runSlots } = await openChain();
  engine.latest = engineBlock(main[HEAD - 1]!);
  expect(await runSlots(1, 5)).toEqual([]);
});

it("backs off without progress and restarts at once after a change", async () => {
  const { engine, runSlots } = await openChain();
  engine.latest = engineBlock(main[8]!);
  const attempts = await runSlots(1, 40);
  expect(attempts.map(([slots]) => slots)).toEqual([1, 2, 4, 8, 16, 32]);
  expect(attempts.every(([, blocks]) => blocks.join() === hashes(10, HEAD).join())).toBe(true);
  engine.latest = engineBlock(main[9]!);
  expect((await runSlots(41, 41))[0]?.[1]).toEqual(hashes(11, HEAD));
  // A reconnected engine may have been fixed.
  engine.enter("offline");
  expect((await runSlots(42, 42))[0]?.[1]).toEqual(hashes(11, HEAD));
});

it("sends unfinalized payloads to an engine on another branch, with the same backoff", async () => {
  const { engine, runSlots } = await openChain();
  engine.latest = { hash: `0x${"ab".repeat(32)}`, number: HEAD };
  const attempts = await runSlots(1, 10);
  expect(attempts.map(([slots]) => slots)).toEqual([1, 2, 4, 8]);
  expect(attempts[0]?.[1]).toEqual(hashes(1, HEAD));
});

it("sends payloads that are rejected, and logs them, with backoff", async () => {
  const { engine, runSlots, complaints } = await openChain();
  engine.latest = engineBlock(main[8]!);
  engine.answer(engineBlock(main[9]!).hash, invalid(null));
  expect((await runSlots(1, 10)).map(([slots]) => slots)).toEqual([1, 2, 4, 8]);
  expect(complaints.filter((line) => line.includes("rejected a backfilled payload"))).toHaveLength(4);
});

it("retries every slot while the engine has no verdict on the first payload", async () => {
  const { engine, runSlots } = await openChain();
  engine.latest = engineBlock(main[8]!);
  engine.answer(engineBlock(main[9]!).hash, SYNCING);
  expect((await runSlots(1, 4)).map(([slots]) => slots)).toEqual([1, 2, 3, 4]);
});
