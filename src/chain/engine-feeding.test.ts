import type { bellatrix, ExecutionPayload, RootHex } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksUpTo, type OpenedDevChain, startQuietDevChain } from "../../test/support/dev-chain.ts";
import { invalid, ScriptedEngine, SYNCING, VALID } from "../../test/support/scripted-engine.ts";
import { emptyStoredChain, openStoredChain } from "../../test/support/stored-chain.ts";
import type { EngineBlock } from "../execution/engine.ts";
import type { ChainBlock } from "./blocks/block-store.ts";

const HEAD = 12;

let source: OpenedDevChain;
/** The block of slot n is at n - 1. */
let main: ChainBlock[];

beforeAll(async () => {
  source = await startQuietDevChain(HEAD, { validators: 8, forks: [{ fork: "electra", epoch: 0 }] });
  main = await blocksUpTo(source.devChain, HEAD);
});
afterAll(() => source.close());

const payloadOf = ({ signed }: ChainBlock): ExecutionPayload =>
  (signed.message.body as bellatrix.BeaconBlockBody).executionPayload;

/** Finds all payloads valid, but does not take any head, unless it is told to; whatever happens, its own is what a test says. */
class StubbornEngine extends ScriptedEngine {
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

/** A chain that was told to an engine which does not take its head, and in which slots of 100 the engine is given which blocks. */
async function openChain() {
  const engine = new StubbornEngine();
  engine.headVerdict = VALID;
  const { chain, clock, complaints } = await openStoredChain(await emptyStoredChain(source.devChain), {
    slot: HEAD,
    engine,
  });
  chain.start();
  await chain.importSegment(main.map(({ signed }) => signed));
  await chain.engineAnswers.untilHeadIsJudged();
  engine.headVerdict = SYNCING;
  engine.enter("syncing");
  await chain.engineAnswers.untilHeadIsJudged();
  const given: [slots: number, blocks: RootHex[]][] = [];
  const goOn = async (from: number, to: number) => {
    engine.takeAsked("newPayload");
    for (let slots = from; slots <= to; slots++) {
      await clock.advanceTo(HEAD + slots);
      await chain.engineAnswers.untilHeadIsJudged();
      // As a proposer does to whom nothing was built.
      engine.enter("syncing");
      await chain.engineAnswers.untilHeadIsJudged();
      const asked = engine.takeAsked("newPayload");
      if (asked.length > 0) given.push([slots, asked]);
    }
    return given.splice(0);
  };
  return { engine, goOn, complaints };
}

const hashes = (from: number, to: number) => main.slice(from - 1, to).map((block) => engineBlock(block).hash);

test("an engine whose own newest block is the head is given nothing, whatever it says of the head", async () => {
  const { engine, goOn } = await openChain();
  engine.latest = engineBlock(main[HEAD - 1]!);
  expect(await goOn(1, 5)).toEqual([]);
});

test("an engine is given blocks less and less often where that changes nothing, and at once when something has", async () => {
  const { engine, goOn } = await openChain();
  engine.latest = engineBlock(main[8]!);
  const inVain = await goOn(1, 40);
  expect(inVain.map(([slots]) => slots)).toEqual([1, 2, 4, 8, 16, 32]);
  expect(inVain.every(([, blocks]) => blocks.join() === hashes(10, HEAD).join())).toBe(true);
  engine.latest = engineBlock(main[9]!);
  expect((await goOn(41, 41))[0]?.[1]).toEqual(hashes(11, HEAD));
  // Back after it was away, it may be mended.
  engine.enter("offline");
  expect((await goOn(42, 42))[0]?.[1]).toEqual(hashes(11, HEAD));
});

test("an engine that is on another branch is given what is not final, no more often", async () => {
  const { engine, goOn } = await openChain();
  engine.latest = { hash: `0x${"ab".repeat(32)}`, number: HEAD };
  const inVain = await goOn(1, 10);
  expect(inVain.map(([slots]) => slots)).toEqual([1, 2, 4, 8]);
  expect(inVain[0]?.[1]).toEqual(hashes(1, HEAD));
});

test("an engine that refuses what it lacks is given it, and complained of, less and less often", async () => {
  const { engine, goOn, complaints } = await openChain();
  engine.latest = engineBlock(main[8]!);
  engine.answer(engineBlock(main[9]!).hash, invalid(null));
  expect((await goOn(1, 10)).map(([slots]) => slots)).toEqual([1, 2, 4, 8]);
  expect(complaints.filter((line) => line.includes("refuses a block that it lacks"))).toHaveLength(4);
});

test("an engine that cannot tell of the first block that it lacks is asked in every slot whether it can", async () => {
  const { engine, goOn } = await openChain();
  engine.latest = engineBlock(main[8]!);
  engine.answer(engineBlock(main[9]!).hash, SYNCING);
  expect((await goOn(1, 4)).map(([slots]) => slots)).toEqual([1, 2, 3, 4]);
});
