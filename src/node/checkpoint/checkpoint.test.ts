import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { processSlots } from "@lodestar/state-transition";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDevChain } from "../../../test/support/chain/dev-chain.ts";
import { FROM_GENESIS } from "../../../test/support/chain/settings.ts";
import { tempDirectory } from "../../../test/support/directories/temp-directory.ts";
import { createRecordingLogger } from "../../../test/support/log/recording-logger.ts";
import { serializeSignedBlock } from "../../chain/blocks/block-encoding.ts";
import { checkpointSource } from "../../cli/flags/node/checkpoint-source.ts";
import { openNetworkSource } from "../chain-source/network-source.ts";
import { StartError } from "../start-error.ts";
import { openDataDirectory } from "../storage/data-directory.ts";
import { loadAnchorBlock } from "./anchor-block.ts";
import { loadState } from "./anchor-state.ts";

/** Responses by first path segment. */
const RESPONSES: Readonly<Record<string, [status: number, type: string, body: string]>> = {
  gone: [410, "text/plain", "gone"],
  json: [200, "application/json; charset=utf-8", '{"data":{}}'],
  page: [200, "text/html", "<html>"],
  jsonOnly: [406, "application/json", "{}"],
  nothing: [404, "text/plain", ""],
  moved: [301, "text/plain; to-here", ""],
  movedToGone: [302, "text/plain; to-gone", ""],
  movedToFile: [302, "text/plain; to-file", ""],
};
const LOCATIONS: Readonly<Record<string, string>> = {
  "text/plain; to-here": "/moved",
  "text/plain; to-gone": "/gone",
  "text/plain; to-file": "file:///state.ssz",
};

async function rejection(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof StartError && error.kind === "unreadableInput") return error.message;
  throw new Error("It was not rejected as unreadable.", { cause: error });
}

/** Listens until the test is over. Returns the URL. */
async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function emptyDirectory() {
  const dataDir = tempDirectory();
  const db = await openDataDirectory(dataDir, { sync: false });
  onTestFinished(() => db.close());
  return { dataDir, db, logger: createRecordingLogger() };
}

it("explains responses that are not a state", async () => {
  const { devChain } = await openDevChain({ validators: 8 });
  const server = createServer(({ url }, response) => {
    const [status, type, body] = RESPONSES[url!.split("/")[1]!]!;
    response.writeHead(status, { "content-type": type, location: LOCATIONS[type] ?? "" }).end(body);
  });
  const base = await listen(server);
  const reasons: Record<keyof typeof RESPONSES, string> = {
    gone: "the server responded 410 Gone; it no longer has the object",
    json: "the server responded with application/json instead of SSZ (application/octet-stream)",
    page: "the server responded with text/html instead of SSZ (application/octet-stream)",
    jsonOnly: "the server responded 406 Not Acceptable; it does not support SSZ",
    nothing: "the server responded 404 Not Found; there is no beacon node at this URL, or it does not serve states",
    moved: "the server redirects more than 5 times",
    movedToGone: "the server responded 410 Gone; it no longer has the object",
    movedToFile: "the server responded 302 without a valid Location",
  };
  for (const [path, reason] of Object.entries(reasons)) {
    const { state } = checkpointSource({ ...NONE, checkpointSyncUrl: `${base}/${path}` }, "/")!;
    expect(await rejection(loadState(state, devChain.config, { logger: createRecordingLogger() }))).toBe(
      `The state ${base}/${path}/eth/v2/debug/beacon/states/finalized cannot be used: ${reason}.`,
    );
  }
});

it("limits the size and idle time of a download, and fails if it is interrupted or cancelled", async () => {
  const { devChain } = await openDevChain({ validators: 8 });
  const server = createServer(({ url }, response) => {
    const length = url === "/announced" ? { "content-length": 5000 } : {};
    response.writeHead(200, { "content-type": "application/octet-stream", ...length });
    response.write(Buffer.alloc(url === "/endless" ? 4096 : 1000));
    if (url === "/cut") response.destroy();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const load = (path: string, options: Partial<Parameters<typeof loadState>[2]> = {}) => {
    const limits = { maxBytes: 1024 * 4, idleMs: 50 };
    return loadState(`${base}${path}`, devChain.config, { logger: createRecordingLogger(), limits, ...options });
  };
  const patient = { limits: { maxBytes: 1024 * 4, idleMs: 60_000 } };
  expect(await rejection(load("/announced", patient))).toMatch(/the response exceeds the limit of 0.00390625 MiB/);
  const small = { limits: { maxBytes: 4000, idleMs: 60_000 } };
  expect(await rejection(load("/endless", small))).toMatch(/the response exceeds the limit/);
  expect(await rejection(load("/silent"))).toMatch(/the server sent nothing for 0.05 seconds/);
  expect(await rejection(load("/cut", patient))).toMatch(/closed/);
  const stopping = new AbortController();
  const stopped = rejection(load("/silent", { ...small, signal: stopping.signal }));
  await once(server, "request");
  stopping.abort(new Error("it was stopped"));
  expect(await stopped).toMatch(/it was stopped/);
});

const NONE = {
  checkpointState: undefined,
  checkpointBlock: undefined,
  checkpointSyncUrl: undefined,
  checkpointRoot: undefined,
};

it("accepts a block file only if it is the latest block of the state", async () => {
  const { devChain } = await openDevChain({ validators: 8 });
  const { chain, clock, config } = devChain;
  await clock.advanceTo(3);
  const directory = tempDirectory();
  const blockFile = async (slot: number) => {
    const { signed } = (await chain.blocks.canonicalAtSlot(slot))!;
    writeFileSync(join(directory, `${slot}.ssz`), serializeSignedBlock(config, signed));
    return `${slot}.ssz`;
  };
  const read = (checkpointBlock: string) => {
    const source = checkpointSource({ ...NONE, checkpointState: "state.ssz", checkpointBlock }, directory)!;
    return loadAnchorBlock(source, { state: chain.headState, config }, { logger: createRecordingLogger() });
  };
  const newest = (await chain.blocks.canonicalAtSlot(3))!;
  expect(await read(await blockFile(3))).toEqual(newest.signed);

  const older = (await chain.blocks.canonicalAtSlot(2))!;
  expect(await rejection(read(await blockFile(2)))).toBe(
    `The block ${join(directory, "2.ssz")} cannot be used: it is block ${older.root}, but the latest block of the state is ${newest.root}.`,
  );
  writeFileSync(join(directory, "cut.ssz"), "too short");
  expect(await rejection(read("cut.ssz"))).toMatch(/cut\.ssz cannot be used: /);
  expect(await rejection(read("absent.ssz"))).toMatch(/absent\.ssz cannot be used: ENOENT/);
});

it("stores the given state unchanged, and hands it to the chain once", async () => {
  const networkDirectory = tempDirectory();
  await openDevChain({ validators: 8, networkDirectory });
  const genesisState = join(networkDirectory, "genesis.ssz");
  const dataDir = tempDirectory();
  const db = await openDataDirectory(dataDir, { sync: false });
  onTestFinished(() => db.close());
  const open = async () => {
    const network = { name: "dev", directory: networkDirectory };
    const source = await openNetworkSource(db, {
      ...FROM_GENESIS,
      dataDir,
      network,
      genesisState,
      logger: createRecordingLogger(),
    });
    source.clock.close();
    return source;
  };
  const first = await open();
  const state = first.takeAnchorState?.();
  const [position] = await Array.fromAsync(db.snapshots.keys());
  const stored = await db.snapshots.get(position!.slot, position!.blockRoot);
  expect(Buffer.compare(stored!, readFileSync(genesisState))).toBe(0);
  expect(Buffer.compare(state!.serialize(), stored!)).toBe(0);
  expect(first.takeAnchorState?.()).toBeUndefined();

  const second = await open();
  expect(second.takeAnchorState?.()).toBeUndefined();
});

it.each([
  ["warns about a checkpoint provider that is syncing", { is_syncing: true, head_slot: "0", sync_distance: "900" }, 1],
  ["does not warn about a synced provider", { is_syncing: false, head_slot: "900", sync_distance: "0" }, 0],
  ["does not warn about a provider without a syncing status", null, 0],
])("%s", async (_, data, warnings) => {
  const networkDirectory = tempDirectory();
  await openDevChain({ validators: 8, networkDirectory });
  const server = createServer(({ url }, response) => {
    if (url === "/eth/v1/node/syncing") response.end(data ? JSON.stringify({ data }) : "not here");
    else response.end(readFileSync(join(networkDirectory, "genesis.ssz")));
  });
  const base = await listen(server);
  const { dataDir, db, logger } = await emptyDirectory();
  const network = { name: "dev", directory: networkDirectory };
  const checkpoint = checkpointSource({ ...NONE, checkpointSyncUrl: base }, "/");
  const source = await openNetworkSource(db, { ...FROM_GENESIS, dataDir, network, checkpoint, logger });
  source.clock.close();
  const warned = logger.records.filter(({ level }) => level === "warn");
  expect(warned).toHaveLength(warnings);
  for (const { message, fields } of warned) {
    expect(message).toContain("Checkpoint provider is still syncing");
    expect(fields).toEqual({ provider: `${base}/`, stateSlot: 0, headSlot: "0", syncDistance: "900" });
  }
});

describe("a pinned checkpoint", () => {
  const PINNED_EPOCH = 2;

  /** Creates a chain whose pinned checkpoint is the block of the previous slot, and a server for its states. */
  async function setup() {
    const networkDirectory = tempDirectory();
    const { devChain } = await openDevChain({ validators: 8, networkDirectory });
    const { chain, clock } = devChain;
    const boundary = PINNED_EPOCH * SLOTS_PER_EPOCH;
    await clock.advanceTo(boundary - 1);
    const { root } = chain.head;
    const ofBlock = chain.headState;
    const advanced = processSlots(ofBlock.clone(), boundary);
    const stateRoot = toRootHex(ofBlock.hashTreeRoot());
    const served: Record<string, Uint8Array> = { [boundary]: advanced.serialize(), [stateRoot]: ofBlock.serialize() };
    const requested: string[] = [];
    const server = createServer(({ url }, response) => {
      const state = served[url!.split("/").at(-1)!];
      if (url!.includes("/states/")) requested.push(url!.split("/").at(-1)!);
      if (state) response.end(state);
      else response.writeHead(404).end();
    });
    const base = await listen(server);
    const { dataDir, db, logger } = await emptyDirectory();
    const open = async (values: Partial<Parameters<typeof checkpointSource>[0]>) => {
      const checkpoint = checkpointSource({ ...NONE, ...values }, networkDirectory);
      const network = { name: "dev", directory: networkDirectory };
      const source = await openNetworkSource(db, { ...FROM_GENESIS, dataDir, network, checkpoint, logger });
      source.clock.close();
      return source.takeAnchorState?.();
    };
    const file = (name: string, state: { serialize(): Uint8Array }) => {
      writeFileSync(join(networkDirectory, name), state.serialize());
      return name;
    };
    return { db, root, boundary, ofBlock, advanced, stateRoot, served, requested, base, logger, open, file };
  }

  it("is downloaded by epoch, and proven by its block", async () => {
    const { root, boundary, ofBlock, stateRoot, requested, base, logger, open } = await setup();
    const state = await open({ checkpointSyncUrl: base, checkpointRoot: { root, epoch: PINNED_EPOCH } });
    expect(Buffer.compare(state!.serialize(), ofBlock.serialize())).toBe(0);
    expect(requested).toEqual([String(boundary), stateRoot]);
    expect(logger.records).toContainEqual({
      level: "info",
      message: "Starting from state",
      fields: {
        slot: boundary - 1,
        root,
        fork: expect.any(String),
        source: `${base}/eth/v2/debug/beacon/states/${stateRoot}`,
        pinned: true,
      },
    });
  });

  it("rejects a forged state with the pinned block", async () => {
    const { db, root, boundary, advanced, stateRoot, served, base, open, file } = await setup();
    const forged = advanced.clone();
    forged.balances.set(0, 1);
    forged.commit();
    served[boundary] = forged.serialize();
    served[stateRoot] = forged.serialize();
    const pinned = { checkpointRoot: { root, epoch: PINNED_EPOCH } };
    const reason = "it is at a later slot than its latest block";
    expect(await rejection(open({ ...pinned, checkpointSyncUrl: base }))).toContain(reason);
    expect(await rejection(open({ ...pinned, checkpointState: file("forged.ssz", forged) }))).toContain(reason);
    expect(await db.meta.getIdentity()).toBeNull();
  });

  it("rejects a state of another block or epoch", async () => {
    const { db, root, ofBlock, open, file } = await setup();
    const checkpointState = file("state.ssz", ofBlock);
    const other = `0x${"ab".repeat(32)}`;
    expect(await rejection(open({ checkpointState, checkpointRoot: { root: other, epoch: undefined } }))).toContain(
      `its latest block is ${root} at slot ${ofBlock.slot}, but --checkpoint-root is ${other}`,
    );
    for (const epoch of [PINNED_EPOCH - 1, PINNED_EPOCH + 1]) {
      expect(await rejection(open({ checkpointState, checkpointRoot: { root, epoch } }))).toContain(
        `not the checkpoint of epoch ${epoch}`,
      );
    }
    const changed = ofBlock.clone();
    changed.balances.set(0, 1);
    changed.commit();
    const checkpointRoot = { root, epoch: PINNED_EPOCH };
    expect(await rejection(open({ checkpointState: file("changed.ssz", changed), checkpointRoot }))).toContain(
      "its latest block is",
    );
    expect(await db.meta.getIdentity()).toBeNull();
    expect(await open({ checkpointState, checkpointRoot })).toBeDefined();
  });

  it("is compared with the chain in the data directory", async () => {
    const { db, root, ofBlock, open, file } = await setup();
    const checkpointState = file("state.ssz", ofBlock);
    const other = `0x${"ab".repeat(32)}`;
    const openPinned = (pinned: string, epoch?: number) =>
      open({ checkpointState, checkpointRoot: { root: pinned, epoch } });
    await openPinned(root);
    // The first epoch is before the stored chain; the second is not finalized.
    for (const epoch of [undefined, PINNED_EPOCH - 1, PINNED_EPOCH]) await openPinned(other, epoch);
    const batch = db.batch();
    batch.meta.putFinalized({ epoch: PINNED_EPOCH + 1, root });
    await batch.write();
    await openPinned(root, PINNED_EPOCH);
    await expect(openPinned(other, PINNED_EPOCH)).rejects.toMatchObject({
      kind: "otherChain",
      message: expect.stringContaining(`with checkpoint ${root} at epoch 2, but --checkpoint-root is ${other}`),
    });
  });
});
