import { SLOTS_PER_EPOCH } from "@lodestar/params";
import { type CachedBeaconStateGloas, computeStartSlotAtEpoch } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { toHex } from "@lodestar/utils";
import { expect, it, onTestFinished } from "vitest";
import { Caller } from "../../support/api/caller.ts";
import { serveApi } from "../../support/api/served-api.ts";
import { openDevChain } from "../../support/chain/dev-chain.ts";
import { GLOAS, GloasChain } from "../../support/chain/gloas-chain.ts";
import { Client } from "../../support/server/jsonrpc/websocket/client.ts";

const INVALID = -32602;
const SSZ_TYPE = "application/octet-stream";

const callerOf = ({ opened }: GloasChain) => new Caller(opened.devChain.api);

it("builders are selected by index, key and status", async () => {
  const gloas = await GloasChain.open({ builders: { count: 3, balance: 10_000_000_000 } });
  const caller = callerOf(gloas);
  const { builders } = gloas.chain.headState as CachedBeaconStateGloas;
  const keyOf = (index: number) => toHex(builders.getReadonly(index).pubkey);
  const indices = async (filter?: object) => {
    const selected = await caller.call("post_v1_beacon_states_stateId_builders", ["head", filter]);
    return selected.map(({ index }: { index: string }) => Number(index));
  };
  expect(await indices()).toEqual([0, 1, 2]);
  expect(await indices({ ids: [], statuses: [] })).toEqual([0, 1, 2]);
  expect(await indices({ ids: ["2", keyOf(0).toUpperCase().replace("0X", "0x"), "99"] })).toEqual([0, 2]);
  // Active once their deposits are finalized.
  expect(await indices({ statuses: ["active", "exited"] })).toEqual([]);
  const [first] = await caller.call("post_v1_beacon_states_stateId_builders", ["head", { statuses: ["pending"] }]);
  expect(first).toEqual({
    index: "0",
    status: "pending",
    builder: ssz.gloas.Builder.toJson(builders.getReadonly(0).toValue()),
  });
});

it("the envelope of a block is served once its payload has been revealed", async () => {
  const gloas = await GloasChain.open();
  const { ask, restUrl } = await serve(gloas);
  await gloas.run(1);
  const { root } = gloas.chain.head;
  const path = (id: string | number) => `/eth/v1/beacon/execution_payload_envelopes/${id}`;
  const json = await ask(path("head"));
  const stored = (await gloas.chain.payloadStore.get(root))!;
  expect(json.status).toBe(200);
  expect(JSON.parse(json.text)).toEqual({
    version: "gloas",
    execution_optimistic: false,
    finalized: false,
    data: ssz.gloas.SignedExecutionPayloadEnvelope.toJson(stored),
  });
  const response = await fetch(`${restUrl}${path(root)}`, { headers: { Accept: SSZ_TYPE } });
  expect(response.headers.get("eth-consensus-version")).toBe("gloas");
  const bytes = new Uint8Array(await response.arrayBuffer());
  expect(Buffer.compare(bytes, ssz.gloas.SignedExecutionPayloadEnvelope.serialize(stored))).toBe(0);

  await gloas.run(1, { payload: "withhold" });
  expect(JSON.parse((await ask(path("head"))).text)).toMatchObject({
    code: 404,
    message: expect.stringMatching(/^No execution payload is known for block 0x\w{64} of slot 2\.$/),
  });
  expect((await ask(path(1))).status).toBe(200);
});

it("duties of payload timeliness committees are known an epoch ahead, also before the fork", async () => {
  const { devChain } = await openDevChain({
    forks: [
      { fork: "fulu", epoch: 0 },
      { fork: "gloas", epoch: 1 },
    ],
  });
  const { chain, clock, api } = devChain;
  const caller = new Caller(api);
  const everyone = Array.from({ length: 16 }, (_, index) => String(index));
  const method = "post_v1_validator_duties_ptc_epoch";
  expect(await caller.error(method, ["0", everyone])).toMatchObject({
    code: INVALID,
    message: expect.stringContaining("Payload timeliness committees require gloas"),
  });
  const early = await caller.call(method, ["1", everyone]);
  await devChain.control.time.advance({ slots: SLOTS_PER_EPOCH });
  expect(clock.currentEpoch).toBe(1);
  expect(await caller.call(method, ["1", everyone])).toEqual(early);
  expect(await caller.call(method, ["1", ["99"]])).toEqual([]);
  expect(await caller.error(method, ["3", everyone])).toMatchObject({ code: INVALID });
  const next = await caller.call(method, ["2", everyone]);
  await devChain.control.time.advance({ slots: SLOTS_PER_EPOCH + 2 });
  expect(await caller.call(method, ["2", everyone])).toEqual(next);
  const { epochCtx } = chain.headState;
  for (const slot of [computeStartSlotAtEpoch(2), computeStartSlotAtEpoch(2) + 5]) {
    const members = next.filter((duty: { slot: string }) => duty.slot === String(slot));
    const indices = members.map((duty: { validator_index: string }) => Number(duty.validator_index));
    expect(new Set(indices)).toEqual(new Set(epochCtx.getPayloadTimelinessCommittee(slot)));
  }
  // An epoch of the past, and the root that its committees depend on.
  expect(await caller.call(method, ["1", everyone])).toEqual(early);
  const { dependent_root: root } = (await caller.meta(method, ["2", everyone])) as { dependent_root: string };
  expect(root).toBe(await chain.blocks.rootAtOrBefore(SLOTS_PER_EPOCH - 1));
});

it("members of the committee learn what has arrived, and nothing without a block", async () => {
  const gloas = await GloasChain.open();
  const { ask } = await serve(gloas);
  const caller = callerOf(gloas);
  const path = "/eth/v1/validator/payload_attestation_data?slot=";
  const method = "get_v1_validator_payload_attestation_data";
  await gloas.run(1);
  const data = {
    beacon_block_root: gloas.chain.head.root,
    slot: "1",
    payload_present: true,
    blob_data_available: true,
  };
  expect(JSON.parse((await ask(`${path}1`)).text)).toEqual({ version: "gloas", data });

  const slot = await gloas.nextSlot();
  for (const accept of ["application/json", SSZ_TYPE]) {
    const reply = await ask(`${path}${slot}`, { headers: { Accept: accept } });
    expect({ ...reply, headers: reply.headers.get("content-type") }).toEqual({ status: 204, text: "", headers: null });
  }
  expect(await caller.call(method, [slot])).toBeNull();
  expect(await caller.call(method, ["1"])).toEqual(data);
  expect(await caller.error(method, [slot + 1])).toMatchObject({ code: INVALID });
  expect(await caller.error(method, ["0"])).toMatchObject({ code: INVALID });

  await gloas.run(1, { payload: "withhold" });
  expect(await caller.call(method, ["3"])).toMatchObject({ payload_present: false, blob_data_available: true });
});

it("payload attestations of the pool are listed by slot", async () => {
  const gloas = await GloasChain.open();
  const caller = callerOf(gloas);
  const method = "get_v1_beacon_pool_payload_attestations";
  await gloas.run(2);
  const [attestation, ...others] = await caller.call(method, ["2"]);
  expect(others).toEqual([]);
  const { root } = gloas.chain.head;
  expect(attestation).toMatchObject({
    data: { beacon_block_root: root, slot: "2", payload_present: true, blob_data_available: true },
  });
  expect((await caller.call(method)).length).toBe(2);
  expect(await caller.call(method, ["9"])).toEqual([]);
});

it("payloads are announced over SSE and WebSocket", async () => {
  const gloas = await GloasChain.open();
  const { jsonRpcUrl } = await serve(gloas);
  const client = await Client.connect(jsonRpcUrl);
  const topics = ["execution_payload_gossip", "execution_payload_available", "execution_payload", "head_v2"];
  await client.subscribe(topics as never);
  await gloas.run(1);
  const { root, bid } = gloas.chain.head;
  const payload = {
    slot: "1",
    builder_index: "18446744073709551615",
    block_hash: bid!.blockHash,
    block_root: root,
  };
  const events = (await client.notifications.take(5)).map(({ topic, data }) => [topic, data]);
  expect(events).toEqual([
    ["head_v2", { version: "gloas", data: expect.objectContaining({ block: root, payload_status: "empty" }) }],
    ["execution_payload_gossip", payload],
    ["execution_payload_available", { slot: "1", block_root: root }],
    ["execution_payload", { ...payload, execution_optimistic: false }],
    ["head_v2", { version: "gloas", data: expect.objectContaining({ block: root, payload_status: "full" }) }],
  ]);
});

it("payload attributes are published ahead of the slot, without the number of the parent's block", async () => {
  const { devChain } = await openDevChain({ forks: GLOAS });
  const { chain } = devChain;
  const { jsonRpcUrl, close } = await serveApi(devChain.api);
  onTestFinished(close);
  await devChain.control.time.advance({ slots: 2 });
  const client = await Client.connect(jsonRpcUrl);
  await client.subscribe(["payload_attributes"] as never);
  await devChain.control.time.advance({ slots: 4 });
  const [notification] = await client.notifications.take(1);
  const data = notification!.data as unknown as { version: string; data: never };
  const { payloadAttributes, ...event } = ssz.gloas.SSEPayloadAttributes.fromJson(data.data);
  expect(data.version).toBe("gloas");
  expect(data.data).not.toHaveProperty("parent_block_number");
  const { signed, root } = (await chain.blocks.canonicalAtSlot(event.proposalSlot))!;
  const { payload } = (await chain.payloadStore.get(root))!.message;
  expect(event.proposerIndex).toBe(signed.message.proposerIndex);
  expect(toHex(event.parentBlockHash)).toBe(toHex(payload.parentHash));
  expect(toHex(event.parentBlockRoot)).toBe(toHex(signed.message.parentRoot));
  expect(payloadAttributes).toMatchObject({
    timestamp: payload.timestamp,
    slotNumber: payload.slotNumber,
    targetGasLimit: BigInt(payload.gasLimit),
  });
  expect(toHex(payloadAttributes.prevRandao)).toBe(toHex(payload.prevRandao));
});

async function serve(gloas: GloasChain) {
  const served = await serveApi(gloas.opened.devChain.api);
  onTestFinished(served.close);
  return served;
}
