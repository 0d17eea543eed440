import { ListCompositeType } from "@chainsafe/ssz";
import { ForkName } from "@lodestar/params";
import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { JSON_HEADERS, ServedChain, SSZ_TYPE } from "./served-chain.ts";

const rest = new ServedChain(ForkName.phase0);
const { ask, askBytes, data, post, resultOf } = rest;

describe("bodies", () => {
  it.each([
    ["/eth/v1/validator/duties/attester/5", "{}", 400],
    ["/eth/v1/validator/duties/attester/5", '["x"]', 400],
    ["/eth/v1/validator/duties/attester/5", "[", 400],
    ["/eth/v1/validator/duties/attester/x", '["1"]', 400],
    ["/eth/v1/validator/liveness/5", '["0x12"]', 400],
    ["/eth/v1/validator/duties/attester/5", '"1"', 400],
    ["/eth/v1/validator/duties/attester/5", "null", 400],
    ["/eth/v1/validator/duties/attester/5", '["18446744073709551615"]', 400],
    ["/eth/v1/validator/duties/attester/5", "[1e0]", 400],
    ["/eth/v1/validator/liveness/5", '"1"', 400],
    ["/eth/v1/beacon/states/head/validators", "null", 400],
    ["/eth/v1/beacon/states/head/validators", '{"statuses":"active"}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"statuses":["gone"]}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"statuses":[null]}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"statuses":{}}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"ids":"1"}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"ids":[1.0]}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"ids":[9007199254740993]}', 400],
    ["/eth/v1/beacon/states/head/validators", '{"ids":null,"statuses":null}', 200],
    ["/eth/v1/beacon/states/head/validators", '{"__proto__":{"ids":["x"]}}', 200],
    ["/eth/v1/beacon/states/head/validators", '{"ids":["x"],"ids":["1"]}', 200],
    ["/eth/v1/beacon/states/head/validators", `{"ids":${"[".repeat(5000)}${"]".repeat(5000)}}`, 400],
    ["/eth/v1/beacon/states/head/validators", "", 200],
    ["/eth/v1/beacon/states/head/validator_balances", "null", 400],
    ["/eth/v1/beacon/states/head/validator_balances", '"1"', 400],
    ["/eth/v1/beacon/states/head/validator_identities", "null", 400],
    ["/eth/v1/beacon/states/head/validators", "[]", 400],
    ["/eth/v1/beacon/states/head/validators", '{"ids":["x"]}', 400],
    ["/eth/v1/beacon/states/head/validator_balances", '{"ids":[]}', 400],
    ["/eth/v1/beacon/pool/voluntary_exits", "{}", 400],
    ["/eth/v1/beacon/pool/voluntary_exits", "[]", 400],
    ["/eth/v1/beacon/pool/attestations", "{}", 400],
    ["/eth/v1/beacon/pool/attestations", "[]", 200],
    ["/eth/v1/validator/beacon_committee_subscriptions", "[]", 200],
    ["/eth/v2/beacon/pool/attestations", "[]", 400],
  ])("%s with %s is %i", async (path, body, status) => {
    expect((await post(path, body)).status).toBe(status);
  });

  it("are optional if they only filter", async () => {
    const { status, text } = await ask("/eth/v1/beacon/states/head/validators", { method: "POST" });
    expect(status).toBe(200);
    expect(JSON.parse(text).data).toHaveLength(rest.chain.validatorCount);
  });

  it("with empty lists do not filter", async () => {
    const path = "/eth/v1/beacon/states/head/validators";
    const filter = { ids: [], statuses: [] };
    const all = await data(path);
    expect(all).toHaveLength(rest.chain.validatorCount);
    expect(JSON.parse((await post(path, filter)).text).data).toEqual(all);
    expect(await resultOf("post_v1_beacon_states_stateId_validators", ["head", filter])).toEqual(all);
    expect(await resultOf("get_v1_beacon_states_stateId_validators", ["head", [], []])).toEqual(all);
  });

  it("must have a media type of the operation", async () => {
    const exit = rest.chain.voluntaryExit(12);
    for (const type of ["text/plain", SSZ_TYPE]) {
      const { status, text } = await post("/eth/v1/beacon/pool/voluntary_exits", exit, { "Content-Type": type });
      expect(status).toBe(415);
      expect(JSON.parse(text).message).toContain("must be application/json");
    }
  });

  it.each(["/eth/v1/beacon/blocks", "/eth/v1/beacon/blinded_blocks", "/eth/v2/beacon/blocks"])(
    "of blocks may be SSZ at %s",
    async (path) => {
      const held = await askBytes(`/eth/v2/beacon/blocks/${rest.chain.chain.head.root}`);
      const send = (body: Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
        ask(path, { method: "POST", headers: { "Content-Type": SSZ_TYPE, ...headers }, body });
      const version = { "Eth-Consensus-Version": "phase0" };
      expect((await send(held.body, version)).status).toBe(200);
      // The first versions need no header and derive the fork from the slot.
      expect((await send(held.body, {})).status).toBe(path.startsWith("/eth/v1") ? 200 : 400);
      expect((await send(held.body, { "Eth-Consensus-Version": "altair" })).status).toBe(400);
      for (const length of [0, 3, 50, held.body.length - 1]) {
        expect((await send(held.body.slice(0, length), {})).status).toBe(400);
      }
    },
  );

  it("of another fork than declared are rejected", async () => {
    const headers = { ...JSON_HEADERS, "Eth-Consensus-Version": "altair" };
    const block = await rest.chain.signedBlock();
    const other = await post("/eth/v2/beacon/blocks", block, headers);
    expect([other.status, JSON.parse(other.text).message]).toEqual([
      400,
      "The consensus version is altair, but the object is of phase0. Correct consensus_version, or the Eth-Consensus-Version header in REST.",
    ]);
    expect((await post("/eth/v2/beacon/blocks", block)).status).toBe(400);
    for (const path of ["/eth/v2/beacon/blocks", "/eth/v1/beacon/blocks", "/eth/v2/beacon/pool/attestations"]) {
      for (const type of ["application/json", SSZ_TYPE]) {
        const wrong = { "Content-Type": type, "Eth-Consensus-Version": "frontier" };
        const unknown = await ask(path, { method: "POST", headers: wrong, body: "{}" });
        expect([unknown.status, JSON.parse(unknown.text).message]).toEqual([
          400,
          expect.stringMatching(/^The Eth-Consensus-Version header must be .*, but "frontier" was given\.$/),
        ]);
      }
    }
    const type = ssz.phase0.SignedBeaconBlock;
    const altair = ssz.altair.SignedBeaconBlock.defaultValue();
    altair.message.slot = type.fromJson(await rest.chain.signedBlock()).message.slot;
    const reply = await ask("/eth/v2/beacon/blocks", {
      method: "POST",
      headers: { "Content-Type": SSZ_TYPE, "Eth-Consensus-Version": "altair" },
      body: Buffer.from(ssz.altair.SignedBeaconBlock.serialize(altair)),
    });
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).message).toContain("altair");
  });

  it("in SSZ that do not match the header's fork are rejected with the fork of their slot", async () => {
    const block = ssz.phase0.SignedBeaconBlock.fromJson(await rest.chain.signedBlock());
    const [attestation] = await rest.chain.attestations();
    const attestations = new ListCompositeType(ssz.phase0.Attestation, 8).serialize([
      ssz.phase0.Attestation.fromJson(attestation),
    ]);
    const send = async (path: string, version: string, body: Uint8Array) => {
      const headers = { "Content-Type": SSZ_TYPE, "Eth-Consensus-Version": version };
      const { status, text } = await ask(path, { method: "POST", headers, body: Buffer.from(body) });
      return [status, JSON.parse(text).message];
    };
    const belongs = `the body is a phase0 object of slot ${rest.chain.slot}.`;
    const blockBytes = ssz.phase0.SignedBeaconBlock.serialize(block);
    for (const version of ["altair", "deneb", "Fulu"]) {
      expect(await send("/eth/v2/beacon/blocks", version, blockBytes)).toEqual([
        400,
        `The Eth-Consensus-Version header is ${version.toLowerCase()}, but ${belongs}`,
      ]);
    }
    expect(await send("/eth/v2/beacon/pool/attestations", "electra", attestations)).toEqual([
      400,
      `The Eth-Consensus-Version header is electra, but ${belongs}`,
    ]);
    expect(await send("/eth/v2/beacon/blocks", "altair", blockBytes.subarray(1))).toEqual([
      400,
      "The body is not a valid SSZ encoding of a signed block of the fork altair.",
    ]);
    expect(await send("/eth/v2/beacon/pool/attestations", "phase0", attestations.subarray(1))).toEqual([
      400,
      "The body is not a valid SSZ encoding of a list of attestations of the fork phase0.",
    ]);
  });

  it("may contain a validator twice for liveness", async () => {
    const { status, text } = await post(`/eth/v1/validator/liveness/${rest.chain.epoch}`, ["1", "1"]);
    expect(status).toBe(200);
    expect(JSON.parse(text).data.map(({ index }: { index: string }) => index)).toEqual(["1", "1"]);
  });

  it("with invalid items get an error for each", async () => {
    const [good] = await rest.chain.attestations();
    const bad = { ...good, signature: `0xc0${"00".repeat(95)}` };
    const { status, text } = await post("/eth/v1/beacon/pool/attestations", [good, bad]);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ code: 400, failures: [{ index: 1, message: expect.any(String) }] });
  });
});

it("logged no warnings or errors", () => rest.expectNoComplaints());
