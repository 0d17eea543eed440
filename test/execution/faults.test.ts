import { expect, it, vi } from "vitest";
import { tempDirectory } from "../support/directories/temp-directory.ts";
import { ExecutionClient } from "../support/execution/execution-client.ts";
import { NodeWithClient } from "../support/execution/node-with-client.ts";
import { answered, isOf, newPayloadOf } from "../support/execution-layer/call-log.ts";
import {
  accepted,
  answers,
  changes,
  type Fault,
  fails,
  garbage,
  hold,
  invalid,
  resets,
  respondsWith,
  slow,
  syncing,
} from "../support/execution-layer/faults.ts";
import { isFullTier, variants } from "../support/suite/tier.ts";

const WELL = { isOptimistic: false, isOffline: false, health: 200 };
const OFFLINE = { isOptimistic: false, isOffline: true, health: 206 };
const OPTIMISTIC = { isOptimistic: true, isOffline: false, health: 206 };

const NEW = "engine_newPayload";
const FORKCHOICE = "engine_forkchoiceUpdated";
const GET = "engine_getPayload";

const AWAY = "Execution client is offline";
const BACK = "Execution client reconnected";
const WAITS = "Block waits for the execution engine";
const NOT_TOLD = "Execution engine unavailable, block not sent";
const NOT_PREPARED = "Execution engine failed to prepare a payload";
const ANOTHER = "Execution engine returned an unusable payload, requesting another";
const NOT_PROPOSED = "Validator duty failed: block proposal";
const NOT_ATTESTED = "Validator duty failed: attestation data";
const NOT_CONTRIBUTED = "Validator duty failed: sync committee contribution";
const REFUSED = "Execution engine rejected a block";
const UNAUTHORIZED =
  "Execution client rejected the JWT: --jwt-secret must name the same file as the execution client's";
const REORG = "Chain reorganised";

interface Trouble {
  faults: [method: string, fault: Fault][];
  /** After two slots. */
  condition: typeof WELL;
  /** How many of these two slots are missed. */
  missed: number;
  lines: string[];
  /** After the fault is lifted. */
  linesAfter?: string[];
}

const withoutId = changes((result) => ({ ...(result as object), payloadId: null }));
const troubles: Record<string, Trouble> = {
  SYNCING: {
    faults: [
      [NEW, syncing],
      [FORKCHOICE, syncing],
    ],
    condition: OPTIMISTIC,
    missed: 1,
    lines: [NOT_ATTESTED, NOT_CONTRIBUTED, NOT_PROPOSED],
  },
  "SYNCING to payloads alone": { faults: [[NEW, syncing]], condition: WELL, missed: 0, lines: [] },
  ACCEPTED: { faults: [[NEW, accepted]], condition: WELL, missed: 0, lines: [] },
  INVALID: { faults: [[NEW, invalid()]], condition: WELL, missed: 2, lines: [REFUSED, REFUSED] },
  "INVALID without a latest valid hash": {
    faults: [[NEW, invalid("null")]],
    condition: WELL,
    missed: 2,
    lines: [REFUSED, REFUSED],
  },
  "an error of JSON-RPC to payloads": {
    faults: [[NEW, fails(-32_000, "Out of order")]],
    condition: WELL,
    missed: 2,
    lines: [WAITS],
  },
  "an error of JSON-RPC to heads": {
    faults: [[FORKCHOICE, fails(-38_002, "Invalid forkchoice state")]],
    condition: WELL,
    missed: 1,
    lines: [NOT_TOLD, NOT_PREPARED, NOT_PROPOSED],
  },
  "the wrong version of a method": {
    faults: [[NEW, fails(-38_005, "Unsupported fork")]],
    condition: WELL,
    missed: 2,
    lines: [WAITS],
  },
  "a wrong shape": {
    faults: [[FORKCHOICE, answers({ payloadStatus: "VALID" })]],
    condition: WELL,
    missed: 1,
    lines: [NOT_TOLD, NOT_PREPARED, NOT_PROPOSED],
  },
  "no payload id": {
    faults: [[FORKCHOICE, withoutId]],
    condition: WELL,
    missed: 1,
    lines: [NOT_PREPARED, NOT_PROPOSED],
  },
  "an unknown payload": {
    faults: [[GET, fails(-38_001, "Unknown payload")]],
    condition: WELL,
    missed: 2,
    lines: [ANOTHER, NOT_PROPOSED],
  },
  "HTTP 500": {
    faults: [["*", respondsWith(500)]],
    condition: OFFLINE,
    missed: 2,
    lines: [AWAY, ANOTHER, NOT_PROPOSED],
    linesAfter: [BACK],
  },
  "HTTP 401": {
    faults: [["*", respondsWith(401)]],
    condition: OFFLINE,
    missed: 2,
    lines: [UNAUTHORIZED, ANOTHER, NOT_PROPOSED],
    linesAfter: [BACK],
  },
  garbage: {
    faults: [["*", garbage]],
    condition: OFFLINE,
    missed: 2,
    lines: [AWAY, ANOTHER, NOT_PROPOSED],
    linesAfter: [BACK],
  },
  "connections that are reset": {
    faults: [["*", resets]],
    condition: OFFLINE,
    missed: 2,
    lines: [AWAY, ANOTHER, NOT_PROPOSED],
    linesAfter: [BACK],
  },
  "payloads that are slow to come": { faults: [[GET, slow(200)]], condition: WELL, missed: 0, lines: [] },
};

/** One of each kind of outcome in the first tier. */
const TROUBLES = variants({
  fast: ["SYNCING", "INVALID", "an error of JSON-RPC to payloads", "an unknown payload", "HTTP 401"],
  full: Object.keys(troubles),
});

/** Advances the backoff until the client is back. */
async function untilBack({ timers, chain }: NodeWithClient): Promise<void> {
  while (chain.status.executionOffline) {
    await timers.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

it("logs each problem of its execution client once, and misses no slot afterwards", async () => {
  const client = await ExecutionClient.open();
  const node = await NodeWithClient.open([client]);
  const { faults } = client.layer;
  expect(await node.advance(2)).toEqual([]);
  node.takeLines();
  for (const name of TROUBLES) {
    const trouble = troubles[name]!;
    for (const [method, fault] of trouble.faults) faults.set(method, fault);
    const missed = await node.advance(2);
    expect({ name, missed: missed.length, condition: await node.condition(), lines: node.takeLines() }).toEqual({
      name,
      missed: trouble.missed,
      condition: trouble.condition,
      lines: trouble.lines,
    });
    faults.clear();
    await untilBack(node);
    expect({ name, missed: await node.advance(2), condition: await node.condition() }).toEqual({
      name,
      missed: [],
      condition: WELL,
    });
    // Only one of several waiting blocks can be followed.
    const lines = node.takeLines().filter((line) => line !== REORG);
    expect({ name, lines }).toEqual({ name, lines: trouble.linesAfter ?? [] });
    expect(node.chain.head.execution).toMatchObject({ status: "valid", blockHash: client.layer.chain.head.hash });
  }
});

it("continues as soon as a client that was stopped, or had another secret, is back", async () => {
  const client = await ExecutionClient.open();
  const node = await NodeWithClient.open([client]);
  await node.advance(2);
  node.takeLines();
  await client.stop();
  expect(await node.advance(2)).toHaveLength(2);
  expect(await node.condition()).toEqual(OFFLINE);
  await client.startWithOtherSecret();
  await node.timers.advance(100);
  await vi.waitFor(() => expect(node.takeLines()).toContain(UNAUTHORIZED));
  expect(await node.condition()).toEqual(OFFLINE);
  await expect(NodeWithClient.open([client])).rejects.toThrow(/rejected the JWT: --jwt-secret must name the same file/);
  await client.stop();
  await client.start();
  await untilBack(node);
  expect(await node.advance(2)).toEqual([]);
  expect(await node.condition()).toEqual(WELL);
});

it("serves duties while a client hangs, and imports the block that waited for it", async () => {
  const client = await ExecutionClient.open();
  const { calls, faults } = client.layer;
  const node = await NodeWithClient.open([client]);
  await node.advance(2);
  const parent = node.chain.head;
  const held = hold();
  faults.set(NEW, held.fault);
  const from = calls.all.length;
  const slot = node.clock.advanceTo(3);
  const asked = await calls.until(({ method }) => method.startsWith(NEW), { from });
  expect(await node.call("get_v1_validator_attestation_data", ["3", "0"])).toMatchObject({
    beacon_block_root: parent.root,
  });
  await node.chain.refreshHead();
  await node.timers.advance(8000);
  await slot;
  expect(node.chain.head.root).toBe(parent.root);
  expect(await node.condition()).toEqual(WELL);
  faults.clear();
  held.release();
  const { blockHash } = asked.params[0] as { blockHash: string };
  expect(await node.advance(1)).toEqual([]);
  await calls.until(answered(newPayloadOf(blockHash)), { from: calls.all.indexOf(asked) + 1 });
  expect(node.chain.head.parentRoot).not.toBe(parent.root);
});

it("stops at once while its clients hang in any method", async () => {
  const clients = [await ExecutionClient.open(), await ExecutionClient.open()] as const;
  for (const method of [NEW, FORKCHOICE]) {
    const node = await NodeWithClient.open(clients);
    const held = hold();
    const { calls } = clients[0].layer;
    const from = calls.all.length;
    for (const { layer } of clients) layer.faults.set(method, held.fault);
    const slot = node.clock.advanceTo(1).catch(() => {});
    await calls.until((call) => isOf(method, call), { from });
    // Call timeouts never fire here.
    await node.opened.close();
    await slot;
    expect({ method, slot: node.chain.head.slot }).toEqual({ method, slot: 0 });
    for (const { layer } of clients) layer.faults.clear();
    held.release();
  }
});

if (isFullTier) {
  it("proposes although the client fails for a moment", async () => {
    const client = await ExecutionClient.open();
    const { faults } = client.layer;
    const { execution } = client.nodeOptions();
    const node = await NodeWithClient.open([client], { execution, slotSeconds: 12 });
    await node.advance(1);
    for (const method of [GET, NEW]) {
      faults.set(method, respondsWith(500), { times: 1 });
      await node.advance(1);
      await vi.waitFor(() => expect(node.chain.head.slot).toBe(node.slot));
    }
    expect(await node.advance(1)).toEqual([]);
    expect(node.chain.head).toMatchObject({ slot: 4, execution: { blockNumber: 4 } });
  });
}

it("does not start with a client of another chain; a later mismatch is logged once, and the node keeps running", async () => {
  const directory = tempDirectory();
  const first = await NodeWithClient.open([await ExecutionClient.open()], {}, directory);
  await first.opened.close();
  const otherChain = await ExecutionClient.open({ chainId: 5 });
  const otherGenesis = await ExecutionClient.open({ genesisTime: 1_600_000_000 });
  for (const [other, fact, what] of [
    [otherChain, "chain id 5", "chain id"],
    [otherGenesis, "genesis block 0x", "genesis block"],
  ] as const) {
    const refused = NodeWithClient.open([other], {}, directory);
    await expect(refused).rejects.toThrow(`The execution client ${other.url} has ${fact}`);
    await other.stop();
    const node = await NodeWithClient.open([other], {}, directory);
    await other.start();
    await node.timers.advance(100);
    await vi.waitFor(async () => expect(await node.condition()).toMatchObject({ isOffline: false }));
    await node.advance(2);
    const line = `Execution client is on another chain: ${what} mismatch`;
    expect(node.takeLines().filter((message) => message.includes("another chain"))).toEqual([line]);
    await node.opened.close();
  }
});
