import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEV_FORKS, type DevFork } from "../../../src/dev/forks.ts";
import { Caller } from "../../support/api/caller.ts";
import { rootOfBranch, rootOfMultiproof } from "../../support/api/merkle-verifier.ts";
import { type ServedApi, serveApi } from "../../support/api/served-api.ts";
import { type OpenedDevChain, startQuietDevChain } from "../../support/chain/dev-chain.ts";

const VALIDATORS = 16;
const SLOT_SECONDS = 2;
const GENESIS_TIME = 1_700_000_000;
/** One fork per epoch. */
const LADDER = DEV_FORKS.slice(1).map((fork, index) => ({ fork, epoch: index + 1 }));
const HEAD_SLOT = DEV_FORKS.length * SLOTS_PER_EPOCH + 3;
/** The first slot of the fork has a block. Its state is far behind the head. */
const slotIn = (fork: DevFork) => DEV_FORKS.indexOf(fork) * SLOTS_PER_EPOCH + 2;
const isSince = (fork: DevFork, first: DevFork) => DEV_FORKS.indexOf(fork) >= DEV_FORKS.indexOf(first);

let opened: OpenedDevChain;
let caller: Caller;
let served: ServedApi;
beforeAll(async () => {
  opened = await startQuietDevChain(HEAD_SLOT, {
    validators: VALIDATORS,
    forks: LADDER,
    slotSeconds: SLOT_SECONDS,
    genesisTime: GENESIS_TIME,
  });
  caller = new Caller(opened.devChain.api);
  served = await serveApi(opened.devChain.api);
});
afterAll(async () => {
  await served?.close();
  await opened?.close();
});

type Path = (string | number)[];

/** The value at a path in the JSON of an object. */
// biome-ignore lint/suspicious/noExplicitAny: the JSON of any field
const within = (json: any, path: Path): unknown => path.reduce((value, step) => value?.[step], json);

/** The integer in a leaf at an offset. */
function integerIn(leaf: string, offset: string, size: number): string {
  const bytes = Buffer.from(leaf.slice(2), "hex").subarray(Number(offset), Number(offset) + size);
  return String(BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`));
}

const ask = (path: string) => served.ask(path);
const send = (path: string, body: unknown) =>
  served.ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

const finalizedSlot = () => opened.devChain.chain.forkChoice.finalized.epoch * SLOTS_PER_EPOCH;

const errorOf = async (method: string, ...params: unknown[]) => (await caller.error(method, params)).message;

describe.each(DEV_FORKS)("in %s", (fork) => {
  const slot = slotIn(fork);

  it("proves fields of states, against the state root and the block root", async () => {
    const { root: stateRoot } = await caller.call("get_v1_beacon_states_root", [slot]);
    const { root: blockRoot } = await caller.call("get_v1_beacon_blocks_blockId_root", [slot]);
    const state = await caller.call("get_v1_debug_beacon_states_stateId", [slot]);
    const paths: Path[] = [
      ["slot"],
      ["fork", "current_version"],
      ["latest_block_header", "parent_root"],
      ["validators", 12, "withdrawal_credentials"],
      ["validators", VALIDATORS - 1],
      ["balances", 6],
      ["randao_mixes", 1],
      ["justification_bits"],
      ["finalized_checkpoint", "root"],
    ];
    if (fork === "phase0") paths.push(["current_epoch_attestations", 0, "data", "target", "epoch"]);
    if (isSince(fork, "altair")) paths.push(["current_sync_committee", "pubkeys", 3], ["inactivity_scores", 1]);
    if (fork === "gloas") paths.push(["latest_block_hash"], ["latest_execution_payload_bid", "block_hash"]);
    else if (isSince(fork, "bellatrix")) paths.push(["latest_execution_payload_header", "block_hash"]);
    if (isSince(fork, "capella")) paths.push(["next_withdrawal_validator_index"]);
    if (isSince(fork, "electra")) paths.push(["earliest_exit_epoch"]);
    if (isSince(fork, "fulu")) paths.push(["proposer_lookahead", 5]);
    for (const path of paths) {
      for (const upTo of ["state", "block"]) {
        const proof = await caller.call("getStateProof", [slot, path, upTo]);
        const root = upTo === "state" ? stateRoot : blockRoot;
        expect(proof, String(path)).toMatchObject({
          root,
          state_root: stateRoot,
          block_root: blockRoot,
          slot: String(slot),
        });
        expect(rootOfBranch(proof.leaf, proof.branch, BigInt(proof.gindex)), String(path)).toBe(root);
        expect(proof.value, String(path)).toEqual(within(state, path));
        expect(BigInt(proof.gindex)).toBe(2n ** BigInt(proof.depth) + BigInt(proof.index));
        expect(proof.branch).toHaveLength(Number(proof.depth));
      }
    }
    const balance = await caller.call("getStateProof", [slot, ["balances", 6]]);
    expect(balance.offset).toBe("16");
    expect(integerIn(balance.leaf, balance.offset, 8)).toBe(state.balances[6]);
    const count = await caller.call("getStateProof", [slot, ["validators", "length"], "block"]);
    expect(rootOfBranch(count.leaf, count.branch, BigInt(count.gindex))).toBe(blockRoot);
    expect(integerIn(count.leaf, "0", 32)).toBe(String(VALIDATORS));
    expect(await caller.meta("getStateProof", [slot, ["slot"]])).toMatchObject({
      version: fork,
      finalized: slot < finalizedSlot(),
    });
  });

  it("proves fields of blocks", async () => {
    const { root } = await caller.call("get_v1_beacon_blocks_blockId_root", [slot]);
    const { message } = await caller.call("get_v1_beacon_blocks_blockId", [slot]);
    const paths: Path[] = [
      ["state_root"],
      ["body", "graffiti"],
      ["body", "attestations", 0, "data", "target", "root"],
      ["body", "attestations", 0, "aggregation_bits"],
    ];
    if (isSince(fork, "altair")) paths.push(["body", "sync_aggregate", "sync_committee_bits"]);
    if (fork === "gloas") paths.push(["body", "signed_execution_payload_bid", "message", "block_hash"]);
    else if (isSince(fork, "bellatrix")) paths.push(["body", "execution_payload", "timestamp"]);
    for (const path of paths) {
      const proof = await caller.call("getBlockProof", [slot, path]);
      expect(proof).toMatchObject({ root, block_root: root, state_root: message.state_root, slot: String(slot) });
      expect(rootOfBranch(proof.leaf, proof.branch, BigInt(proof.gindex)), String(path)).toBe(root);
      expect(proof.value, String(path)).toEqual(within(message, path));
    }
    const bit = await caller.call("getBlockProof", [root, ["body", "attestations", 0, "aggregation_bits", 1]]);
    const byte = Number(integerIn(bit.leaf, bit.offset, 1));
    expect((byte >> Number(bit.bit)) & 1).toBe(Number(bit.value));
    expect(rootOfBranch(bit.leaf, bit.branch, BigInt(bit.gindex))).toBe(root);
  });

  it("returns the EIP-4788 timestamp since deneb", async () => {
    // The child of the last block before deneb is in deneb.
    for (const parent of [slot, slot + SLOTS_PER_EPOCH - 3]) {
      const childTime = String(GENESIS_TIME + (parent + 1) * SLOT_SECONDS);
      const isKept = parent + 1 >= DEV_FORKS.indexOf("deneb") * SLOTS_PER_EPOCH;
      const { timestamp } = await caller.call("getStateProof", [parent, "slot"]);
      expect(timestamp).toBe(isKept ? childTime : null);
      expect(await caller.call("getBlockProof", [parent, "slot"])).toHaveProperty("timestamp", timestamp);
    }
  });
});

it("proves several fields at once, two of which share a leaf", async () => {
  const state = await caller.call("get_v1_debug_beacon_states_stateId", ["head"]);
  const paths: Path[] = [
    ["balances", 5],
    ["validators", 3, "pubkey"],
    ["slot"],
    ["balances", 6],
    ["validators", "length"],
    ["validators", 4, "exit_epoch"],
  ];
  for (const upTo of ["state", "block"]) {
    const proof = await caller.call("getStateProof", ["head", paths, upTo]);
    expect(rootOfMultiproof(proof)).toBe(upTo === "state" ? proof.state_root : opened.devChain.chain.head.root);
    expect(proof.leaves).toHaveLength(paths.length - 1);
    expect(proof.values.map(({ value }: { value: unknown }) => value)).toEqual(
      paths.map((path) => (path.at(-1) === "length" ? String(VALIDATORS) : within(state, path))),
    );
    expect(proof.values[0].gindex).toBe(proof.values[3].gindex);
  }
  const ofBlock = await caller.call("getBlockProof", [
    "head",
    [["slot"], ["body", "parent_execution_requests", "withdrawals"]],
  ]);
  expect(rootOfMultiproof(ofBlock)).toBe(ofBlock.root);
});

it("proves by generalized index, relative to the object's root", async () => {
  const byPath = await caller.call("getStateProof", ["head", ["finalized_checkpoint", "epoch"]]);
  for (const gindex of [byPath.gindex, Number(byPath.gindex)]) {
    const byIndex = await caller.call("getStateProof", ["head", gindex]);
    expect(byIndex).toEqual({ ...byPath, value: null, offset: null });
  }
  const upToBlock = await caller.call("getStateProof", ["head", byPath.gindex, "block"]);
  expect(upToBlock.branch).toEqual([...byPath.branch, ...upToBlock.branch.slice(-3)]);
  expect(rootOfBranch(upToBlock.leaf, upToBlock.branch, BigInt(upToBlock.gindex))).toBe(upToBlock.block_root);
  const whole = await caller.call("getBlockProof", ["head", 1]);
  expect(whole).toMatchObject({ leaf: whole.root, branch: [], depth: "0", index: "0" });
  const list = await caller.call("getStateProof", ["head", [byPath.gindex]]);
  expect(list.leaves).toEqual([{ gindex: byPath.gindex, leaf: byPath.leaf }]);
  expect(rootOfMultiproof(list)).toBe(list.state_root);
});

it("is the same over REST, as a query and as a body", async () => {
  const path = ["validators", "12", "withdrawal_credentials"];
  const result = await caller.call("getStateProof", [8, path, "block"]);
  const { root } = await caller.call("get_v1_beacon_states_root", [8]);
  const url = `/fanal/v1/proofs/states/${root}?up_to=block`;
  const byQuery = await ask(`${url}&path=${path}`);
  expect(JSON.parse(byQuery.text)).toMatchObject({ data: result, version: "altair", finalized: true });
  expect(byQuery.headers.get("cache-control")).toContain("immutable");
  expect(JSON.parse((await send(url, path)).text).data).toEqual(result);
  expect(JSON.parse((await send(url, [path, ["slot"]])).text).data).toEqual(
    await caller.call("getStateProof", [8, [path, ["slot"]], "block"]),
  );
  const block = await caller.call("getBlockProof", ["head", ["body", "graffiti"]]);
  expect(JSON.parse((await ask("/fanal/v1/proofs/blocks/head?path=body,graffiti")).text).data).toEqual(block);
});

it("is immutable only once the child of the block is finalized", async () => {
  expect(finalizedSlot()).toBeGreaterThan(0);
  for (const [slot, finalized] of [
    [finalizedSlot(), false],
    [finalizedSlot() - 1, true],
  ]) {
    expect(await caller.meta("getBlockProof", [slot, "slot"])).toHaveProperty("finalized", finalized);
    expect(await caller.meta("getStateProof", [slot, "slot"])).toHaveProperty("finalized", finalized);
  }
});

it("has no timestamp for the head, which has no child", async () => {
  expect(await caller.call("getStateProof", ["head", "slot"])).toHaveProperty("timestamp", null);
  expect(await caller.call("getBlockProof", ["head", "slot"])).toHaveProperty("timestamp", null);
});

it("proves the state of an empty slot against its own root only", async () => {
  const empty = HEAD_SLOT + 1;
  await opened.devChain.clock.advanceTo(empty);
  const { root } = await caller.call("get_v1_beacon_states_root", [empty]);
  const proof = await caller.call("getStateProof", [empty, ["slot"]]);
  expect(proof).toMatchObject({ root, state_root: root, block_root: null, timestamp: null, value: String(empty) });
  expect(rootOfBranch(proof.leaf, proof.branch, BigInt(proof.gindex))).toBe(root);
  expect(await errorOf("getStateProof", empty, ["slot"], "block")).toContain(
    `Slot ${empty} has no block, so its state has no block root. Request the state of slot ${HEAD_SLOT}`,
  );
});

describe("refuses", () => {
  it("fields of other forks", async () => {
    expect(await errorOf("getStateProof", slotIn("deneb"), ["pending_deposits", 0])).toContain(
      'There is no field "pending_deposits" in deneb states: it was introduced in electra.',
    );
    expect(await errorOf("getStateProof", "head", ["current_epoch_attestations"])).toContain(
      "it exists only up to phase0.",
    );
    expect(await errorOf("getBlockProof", slotIn("bellatrix"), ["body", "execution_payload", "withdrawals"])).toContain(
      'There is no field "withdrawals" in ["body","execution_payload"]: it exists only from capella to fulu.',
    );
  });

  it("duplicate and nested parts", async () => {
    expect(
      await errorOf("getStateProof", "head", [["validators", 3, "pubkey"], ["slot"], ["validators", 3]]),
    ).toContain('cannot contain both ["validators",3] and its part ["validators",3,"pubkey"]');
    expect(await errorOf("getStateProof", "head", [1, ["slot"]])).toContain('both node 1 and its part ["slot"]');
    const twice = [
      ["balances", 5],
      ["balances", 6],
      ["balances", "5"],
    ];
    expect(await errorOf("getStateProof", "head", twice)).toContain('Duplicate proof target ["balances","5"].');
  });

  it("invalid paths, generalized indices and lists", async () => {
    const tooMany = Array.from({ length: 129 }, (_, index) => ["balances", index % VALIDATORS]);
    expect(await errorOf("getStateProof", "head", tooMany)).toContain(
      "must contain from 1 to 128 elements, but it contains 129.",
    );
    expect(await errorOf("getStateProof", "head", [])).toContain(
      "must contain from 1 to 128 elements, but it contains 0.",
    );
    expect(await errorOf("getStateProof", "head", 0)).toContain("a generalized index from 1 on");
    expect(await errorOf("getStateProof", "head", [["slot"], "fork"])).toContain(
      'invalid element at position 1: "fork".',
    );
    expect(await errorOf("getStateProof", "head", [["slot"], []])).toContain(
      "invalid element at position 1: an array.",
    );
    expect(await errorOf("getStateProof", "head", ["validators", -1])).toContain(
      'The parameter "path" has an invalid element at position 1: it must be a field name or an index from 0 on, but the number -1 was given.',
    );
    expect(await errorOf("getStateProof", "head", "validators,3,")).toContain("position 2: it must be a field name");
    expect(await errorOf("getStateProof", "head", [["slot"], ["validators", "0x3"]])).toContain(
      'has an invalid path at position 1: it has an invalid element at position 1: it must be a field name or an index from 0 on, but "0x3" was given.',
    );
    expect(await errorOf("getStateProof", "head", "99999999")).toContain("which is a leaf.");
    expect(await errorOf("getStateProof", "head", ["slot"], "root")).toContain('must be one of "state", "block"');
  });
});
