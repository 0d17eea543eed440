import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DOMAIN_BEACON_PROPOSER, SLOTS_PER_EPOCH } from "@lodestar/params";
import { getExecutionPayloadBidSigningRoot, getProposerPreferencesSigningRoot } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { fromHex, toHex } from "@lodestar/utils";
import { expect, it, onTestFinished, vi } from "vitest";
import { DEFAULT_BUILDER_SETTINGS } from "../../../src/chain/production/builder-settings.ts";
import { builderKeys } from "../../../src/dev/builder-keys.ts";
import { BuilderEntries } from "../../../src/execution/builder/request-auth.ts";
import { Caller } from "../../support/api/caller.ts";
import { serveApi } from "../../support/api/served-api.ts";
import { GloasChain } from "../../support/chain/gloas-chain.ts";

const REJECTED = -32003;
const OTHER_URL = "http://127.0.0.1:9";
const SLOT = 4 * SLOTS_PER_EPOCH + 1;
const AUTH = { message: { data: "0x1234", slot: String(SLOT) }, signature: `0x${"22".repeat(96)}` };

interface Received {
  path: string;
  body: unknown;
}

/** A builder that speaks the Builder API of gloas, with the key of the first builder in the registry. */
async function openBuilder() {
  const received: Received[] = [];
  /** Answers a request for a bid; null for none. */
  const behaviour: { bid: () => Promise<unknown> } = { bid: async () => null };
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request);
    const path = request.url!.replace("/eth/v1/builder/", "");
    const text = Buffer.concat(chunks).toString();
    received.push({ path, body: text === "" ? null : JSON.parse(text) });
    if (!path.startsWith("execution_payload_bid/")) return response.writeHead(path === "status" ? 200 : 202).end();
    const bid = await behaviour.bid();
    if (bid === null) return response.writeHead(204).end();
    response
      .writeHead(200, { "Content-Type": "application/json" })
      .end(JSON.stringify({ version: "gloas", data: bid }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const requests = (start: string) => received.filter(({ path }) => path.startsWith(start));
  return { url, behaviour, requests };
}

async function openMarket() {
  const builder = await openBuilder();
  const gloas = await GloasChain.open({
    builders: { count: 1, balance: 100_000_000_000 },
    builder: { ...DEFAULT_BUILDER_SETTINGS, url: builder.url, bidTimeoutMs: 60_000 },
  });
  const { chain, signer } = gloas;
  const caller = new Caller(gloas.opened.devChain.api);
  await gloas.run(SLOT - 1);
  const proposer = chain.headState.epochCtx.getBeaconProposer(SLOT);
  const message = {
    dependentRoot: fromHex((await chain.blocks.rootAtOrBefore(SLOT - 2 - SLOTS_PER_EPOCH))!),
    proposalSlot: SLOT,
    validatorIndex: proposer,
    feeRecipient: new Uint8Array(20).fill(0xaa),
    targetGasLimit: 30_000_000n,
  };
  const signature = signer.sign(proposer, getProposerPreferencesSigningRoot(chain.config, message));
  const preferences = ssz.gloas.SignedProposerPreferences.toJson({ message, signature });
  await caller.call("post_v1_validator_proposer_preferences", [[preferences]]);
  await gloas.nextSlot();

  /** Makes the builder bid for the payload that the node would build for it. */
  const offer = (changes: Record<string, string>) => {
    builder.behaviour.bid = async () => {
      const method = "get_v1_validator_execution_payload_bids_slot_builderIndex";
      const bid = { ...(await caller.call(method, [SLOT, 0])), ...changes };
      const signingRoot = getExecutionPayloadBidSigningRoot(chain.config, ssz.gloas.ExecutionPayloadBid.fromJson(bid));
      return { message: bid, signature: toHex(builderKeys(1).secretKey(0)!.sign(signingRoot).toBytes()) };
    };
  };
  const randaoReveal = toHex(signer.randaoReveal(proposer, SLOT));
  const produce = async (entries: unknown[]) => {
    const params = [SLOT, entries, randaoReveal, null, false, true];
    const data = await caller.call("post_v4_validator_blocks_slot", params);
    const meta = (await caller.meta("post_v4_validator_blocks_slot", params))!;
    return { data, isBuilders: !meta.execution_payload_included, builderUrl: meta.builder_url };
  };
  const entry = (changes: Record<string, unknown> = {}) => ({
    url: builder.url,
    auth: AUTH,
    max_execution_payment: "0",
    min_bid: "0",
    builder_boost_factor: "100",
    ...changes,
  });
  return { builder, gloas, caller, proposer, offer, produce, entry, randaoReveal };
}

it("takes the bid of a builder that the proposer names, and sends the builder its block", async () => {
  const { builder, gloas, caller, proposer, offer, produce, entry } = await openMarket();
  const { chain, signer } = gloas;
  expect(await produce([])).toMatchObject({ isBuilders: false, builderUrl: undefined });
  expect(await produce([entry()])).toMatchObject({ isBuilders: false });
  offer({ value: "7000000" });
  const { data, isBuilders, builderUrl } = await produce([{}, "nothing", entry({ url: OTHER_URL }), entry()]);
  expect({ isBuilders, builderUrl }).toEqual({ isBuilders: true, builderUrl: builder.url });
  const [first] = builder.requests("execution_payload_bid/");
  const parent = `${chain.head.bid!.blockHash}/${chain.head.root}`;
  const pubkey = toHex(chain.headState.validators.getReadonly(proposer).pubkey);
  expect(first).toEqual({ path: `execution_payload_bid/${SLOT}/${parent}/${pubkey}`, body: AUTH });

  const block = ssz.gloas.BeaconBlock.fromJson(data);
  const root = ssz.gloas.BeaconBlock.hashTreeRoot(block);
  const signature = signer.sign(proposer, signer.signingRoot(ssz.Root, root, DOMAIN_BEACON_PROPOSER, SLOT));
  const signed = ssz.gloas.SignedBeaconBlock.toJson({ message: block, signature });
  expect(await caller.call("post_v2_beacon_blocks", [signed, "gossip", "gloas", builderUrl])).toBe(200);
  await vi.waitFor(() => expect(builder.requests("beacon_blocks")).toEqual([{ path: "beacon_blocks", body: signed }]));
});

it("applies the limits and the weight of an entry to the bid", async () => {
  const { gloas, offer, produce, entry } = await openMarket();
  const takes = async (changes: Record<string, unknown>) => (await produce([entry(changes)])).isBuilders;
  offer({ value: "5", execution_payment: "4" });
  expect(await takes({})).toBe(false);
  expect(await takes({ max_execution_payment: "3" })).toBe(false);
  expect(await takes({ max_execution_payment: "4", min_bid: "9" })).toBe(true);
  expect(await takes({ max_execution_payment: "4", min_bid: "10" })).toBe(false);
  expect(await takes({ max_execution_payment: "4", builder_boost_factor: "0" })).toBe(false);
  expect(await takes({ max_execution_payment: "4", builder_boost_factor: String(2n ** 64n - 1n) })).toBe(true);
  expect(
    await takes({ max_execution_payment: "4", pubkey: toHex(builderKeys(2).secretKey(1)!.toPublicKey().toBytes()) }),
  ).toBe(false);
  offer({ value: "5", slot: String(SLOT + 1) });
  expect(await takes({})).toBe(false);
  expect(gloas.opened.complaints.some((line) => line.includes("Rejected bid from builder"))).toBe(true);
});

it("takes JSON and SSZ over REST, and names the builder in a header", async () => {
  const { builder, gloas, offer, entry, randaoReveal } = await openMarket();
  const { ask, close } = await serveApi(gloas.opened.devChain.api);
  onTestFinished(close);
  offer({ value: "7000000" });
  const path = `/eth/v4/validator/blocks/${SLOT}?randao_reveal=${randaoReveal}&include_payload=false`;
  const entries = BuilderEntries.fromJson([
    { ...entry(), url: toHex(Buffer.from(builder.url)), pubkey: `0x${"00".repeat(48)}` },
  ]);
  const replies = [];
  for (const [type, body] of [
    ["application/json", JSON.stringify([entry()])],
    ["application/octet-stream", new Uint8Array(BuilderEntries.serialize(entries))],
  ] as const) {
    const { status, headers, text } = await ask(path, { method: "POST", headers: { "Content-Type": type }, body });
    expect({ status, url: headers.get("eth-builder-url") }).toEqual({ status: 200, url: builder.url });
    replies.push(text);
  }
  expect(replies[1]).toBe(replies[0]);
  const without = await ask(path, { method: "POST" });
  expect({ status: without.status, url: without.headers.get("eth-builder-url") }).toEqual({ status: 200, url: null });
});

it("forwards preferences to the builder, and reports those that it does not take", async () => {
  const { builder, caller } = await openMarket();
  const method = "post_v1_validator_builder_preferences_pubkey";
  const pubkey = `0x${"33".repeat(48)}`;
  const preference = { url: builder.url, auth: AUTH, max_execution_payment: "5" };
  expect(await caller.call(method, [pubkey, [preference]])).toBe(true);
  const sent = {
    path: `builder_preferences/${pubkey}`,
    body: { preferences: { max_execution_payment: "5" }, auth: AUTH },
  };
  expect(builder.requests("builder_preferences/")).toEqual([sent]);
  expect(await caller.error(method, [pubkey, [preference, { ...preference, url: OTHER_URL }, {}]])).toMatchObject({
    code: REJECTED,
    data: {
      failures: [
        { index: 1, message: expect.stringContaining("contacts only the builder of --builder") },
        { index: 2, message: "The entry has no valid URL." },
      ],
    },
  });
  expect(builder.requests("builder_preferences/").length).toBe(2);
});
