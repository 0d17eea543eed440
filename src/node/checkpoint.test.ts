import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { processSlots } from "@lodestar/state-transition";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { openDevChain } from "../../test/support/dev-chain.ts";
import { tempDirectory } from "../../test/support/temp-directory.ts";
import { serializeSignedBlock } from "../chain/blocks/block-encoding.ts";
import { checkpointSource } from "../cli/flags/checkpoint-source.ts";
import { createRecordingLogger } from "../log/recording-logger.test-support.ts";
import { readAnchorBlock } from "./anchor-block.ts";
import { loadState } from "./anchor-state.ts";
import { openDataDirectory } from "./data-directory.ts";
import { openNetworkSource } from "./network-source.ts";
import { StartError } from "./start-error.ts";

/** What a server answers by the first part of the path. */
const ANSWERS: Readonly<Record<string, [status: number, type: string, body: string]>> = {
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

async function refusal(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof StartError && error.kind === "unreadableInput") return error.message;
  throw new Error("It was not refused as unreadable.", { cause: error });
}

/** Returns the URL of the server, which listens until the test is over. */
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

test("what a server answers instead of a state is said, with what may be meant by it", async () => {
  const { devChain } = await openDevChain({ validators: 8 });
  const server = createServer(({ url }, response) => {
    const [status, type, body] = ANSWERS[url!.split("/")[1]!]!;
    response.writeHead(status, { "content-type": type, location: LOCATIONS[type] ?? "" }).end(body);
  });
  const base = await listen(server);
  const reasons: Record<keyof typeof ANSWERS, string> = {
    gone: "the server answered 410 Gone; it no longer has what was asked for",
    json: "the server answered with application/json where SSZ (application/octet-stream) was asked for",
    page: "the server answered with text/html where SSZ (application/octet-stream) was asked for",
    jsonOnly: "the server answered 406 Not Acceptable; it does not answer in SSZ",
    nothing:
      "the server answered 404 Not Found; there may be no beacon node at this address, or it does not serve states",
    moved: "the server redirects more than 5 times",
    movedToGone: "the server answered 410 Gone; it no longer has what was asked for",
    movedToFile: "the server answered 302 without a usable Location",
  };
  for (const [path, reason] of Object.entries(reasons)) {
    const { state } = checkpointSource({ ...NONE, checkpointSyncUrl: `${base}/${path}` }, "/")!;
    expect(await refusal(loadState(state, devChain.config, { logger: createRecordingLogger() }))).toBe(
      `The state ${base}/${path}/eth/v2/debug/beacon/states/finalized cannot be used: ${reason}.`,
    );
  }
});

test("a download has a limit of bytes and one of silence, and fails when it is cut or stopped", async () => {
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
  expect(await refusal(load("/announced", patient))).toMatch(
    /the server sends more than 0.00390625 MiB, the most that is taken/,
  );
  const small = { limits: { maxBytes: 4000, idleMs: 60_000 } };
  expect(await refusal(load("/endless", small))).toMatch(/the server sends more than/);
  expect(await refusal(load("/silent"))).toMatch(/the server sent nothing for 0.05 seconds/);
  expect(await refusal(load("/cut", patient))).toMatch(/closed/);
  const stopping = new AbortController();
  const stopped = refusal(load("/silent", { ...small, signal: stopping.signal }));
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

test("a block in a file is taken when it is the newest of the state, and no other is", async () => {
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
    return readAnchorBlock(source, { state: chain.headState, config }, { logger: createRecordingLogger() });
  };
  const newest = (await chain.blocks.canonicalAtSlot(3))!;
  expect(await read(await blockFile(3))).toEqual(newest.signed);

  const older = (await chain.blocks.canonicalAtSlot(2))!;
  expect(await refusal(read(await blockFile(2)))).toBe(
    `The block ${join(directory, "2.ssz")} cannot be used: it is block ${older.root}, and the newest block of the state is ${newest.root}.`,
  );
  writeFileSync(join(directory, "cut.ssz"), "too short");
  expect(await refusal(read("cut.ssz"))).toMatch(/cut\.ssz cannot be used: /);
  expect(await refusal(read("absent.ssz"))).toMatch(/absent\.ssz cannot be used: ENOENT/);
});

test("the given state is stored as it came, and handed to the chain once, without being read from the database", async () => {
  const networkDirectory = tempDirectory();
  await openDevChain({ validators: 8, networkDirectory });
  const genesisState = join(networkDirectory, "genesis.ssz");
  const dataDir = tempDirectory();
  const db = await openDataDirectory(dataDir, { sync: false });
  onTestFinished(() => db.close());
  const open = async () => {
    const network = { name: "dev", directory: networkDirectory };
    const source = await openNetworkSource(db, { dataDir, network, genesisState, logger: createRecordingLogger() });
    source.clock.close();
    return source;
  };
  const first = await open();
  const state = first.takeFirstState?.();
  const [position] = await Array.fromAsync(db.snapshots.keys());
  const stored = await db.snapshots.get(position!.slot, position!.blockRoot);
  expect(Buffer.compare(stored!, readFileSync(genesisState))).toBe(0);
  expect(Buffer.compare(state!.serialize(), stored!)).toBe(0);
  expect(first.takeFirstState?.()).toBeUndefined();

  const second = await open();
  expect(second.takeFirstState?.()).toBeUndefined();
});

test.each([
  ["while it is syncing itself is warned of", { is_syncing: true, head_slot: "0", sync_distance: "900" }, 1],
  ["when it has caught up is not", { is_syncing: false, head_slot: "900", sync_distance: "0" }, 0],
  ["and does not say how far it is is not", null, 0],
])("a node that gives the checkpoint state %s", async (_, data, warnings) => {
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
  const source = await openNetworkSource(db, { dataDir, network, checkpoint, logger });
  source.clock.close();
  const warned = logger.records.filter(({ level }) => level === "warn");
  expect(warned).toHaveLength(warnings);
  for (const { message, fields } of warned) {
    expect(message).toContain("is syncing itself");
    expect(fields).toEqual({ node: `${base}/`, stateSlot: 0, headSlot: "0", behind: "900" });
  }
});

describe("a pinned checkpoint", () => {
  const PINNED_EPOCH = 2;

  /** A chain whose checkpoint of the pinned epoch is the block of the slot before, and a server of its states. */
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
    const asked: string[] = [];
    const server = createServer(({ url }, response) => {
      const state = served[url!.split("/").at(-1)!];
      if (url!.includes("/states/")) asked.push(url!.split("/").at(-1)!);
      if (state) response.end(state);
      else response.writeHead(404).end();
    });
    const base = await listen(server);
    const { dataDir, db, logger } = await emptyDirectory();
    const open = async (values: Partial<Parameters<typeof checkpointSource>[0]>) => {
      const checkpoint = checkpointSource({ ...NONE, ...values }, networkDirectory);
      const network = { name: "dev", directory: networkDirectory };
      const source = await openNetworkSource(db, { dataDir, network, checkpoint, logger });
      source.clock.close();
      return source.takeFirstState?.();
    };
    const file = (name: string, state: { serialize(): Uint8Array }) => {
      writeFileSync(join(networkDirectory, name), state.serialize());
      return name;
    };
    return { db, root, boundary, ofBlock, advanced, stateRoot, served, asked, base, logger, open, file };
  }

  it("is fetched by its epoch, and proven by its block", async () => {
    const { root, boundary, ofBlock, stateRoot, asked, base, logger, open } = await setup();
    const state = await open({ checkpointSyncUrl: base, checkpointRoot: { root, epoch: PINNED_EPOCH } });
    expect(Buffer.compare(state!.serialize(), ofBlock.serialize())).toBe(0);
    expect(asked).toEqual([String(boundary), stateRoot]);
    expect(logger.records).toContainEqual({
      level: "info",
      message: "Starting the chain from a given state",
      fields: {
        slot: boundary - 1,
        root,
        fork: expect.any(String),
        source: `${base}/eth/v2/debug/beacon/states/${stateRoot}`,
        pinned: true,
      },
    });
  });

  it("is not a state that someone changed behind its block", async () => {
    const { db, root, boundary, advanced, stateRoot, served, base, open, file } = await setup();
    const forged = advanced.clone();
    forged.balances.set(0, 1);
    forged.commit();
    served[boundary] = forged.serialize();
    served[stateRoot] = forged.serialize();
    const pinned = { checkpointRoot: { root, epoch: PINNED_EPOCH } };
    const reason = "it is of a later slot than its newest block";
    expect(await refusal(open({ ...pinned, checkpointSyncUrl: base }))).toContain(reason);
    expect(await refusal(open({ ...pinned, checkpointState: file("forged.ssz", forged) }))).toContain(reason);
    expect(await db.meta.getIdentity()).toBeNull();
  });

  it("is not a state of another block or epoch", async () => {
    const { db, root, ofBlock, open, file } = await setup();
    const checkpointState = file("state.ssz", ofBlock);
    const other = `0x${"ab".repeat(32)}`;
    expect(await refusal(open({ checkpointState, checkpointRoot: { root: other, epoch: undefined } }))).toContain(
      `its newest block is ${root} of slot ${ofBlock.slot}, and --checkpoint-root pins ${other}`,
    );
    for (const epoch of [PINNED_EPOCH - 1, PINNED_EPOCH + 1]) {
      expect(await refusal(open({ checkpointState, checkpointRoot: { root, epoch } }))).toContain(
        `no checkpoint of epoch ${epoch}`,
      );
    }
    const changed = ofBlock.clone();
    changed.balances.set(0, 1);
    changed.commit();
    const checkpointRoot = { root, epoch: PINNED_EPOCH };
    expect(await refusal(open({ checkpointState: file("changed.ssz", changed), checkpointRoot }))).toContain(
      "its newest block is",
    );
    expect(await db.meta.getIdentity()).toBeNull();
    expect(await open({ checkpointState, checkpointRoot })).toBeDefined();
  });

  it("is compared with the chain of the data directory", async () => {
    const { db, root, ofBlock, open, file } = await setup();
    const checkpointState = file("state.ssz", ofBlock);
    const other = `0x${"ab".repeat(32)}`;
    const openPinned = (pinned: string, epoch?: number) =>
      open({ checkpointState, checkpointRoot: { root: pinned, epoch } });
    await openPinned(root);
    // The first epoch is before what is stored, the second is not final yet.
    for (const epoch of [undefined, PINNED_EPOCH - 1, PINNED_EPOCH]) await openPinned(other, epoch);
    const batch = db.batch();
    batch.meta.putFinalized({ epoch: PINNED_EPOCH + 1, root });
    await batch.write();
    await openPinned(root, PINNED_EPOCH);
    await expect(openPinned(other, PINNED_EPOCH)).rejects.toMatchObject({
      kind: "otherChain",
      message: expect.stringContaining(`whose checkpoint of epoch 2 is ${root}, and --checkpoint-root pins ${other}`),
    });
  });
});
