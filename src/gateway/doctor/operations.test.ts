import { ForkName } from "@lodestar/params";
import { describe, expect, it } from "vitest";
import { root } from "../../../test/support/gateway/doctor/scripted-probe.ts";
import { methods } from "../../api/method-groups.ts";
import type { UpstreamRequest } from "../upstream/upstream-call.ts";
import { exampleChainAt, UntestableOperation } from "./example-chain.ts";
import { operationsOf, requestOf } from "./operations.ts";

const PUBKEY = `0x${"ab".repeat(48)}`;
const PLACE = {
  fork: ForkName.fulu,
  slot: 25,
  epoch: 3,
  headRoot: root("2"),
  peerId: "16Uiu2HAm",
  pubkeys: new Map(Array.from({ length: 6 }, (_, index) => [index, PUBKEY])),
};
const operations = operationsOf(methods);

/** Returns the test request of each operation by method name, or undefined if it is skipped. */
async function requestsAt(
  chain: typeof PLACE,
  { withStates = false } = {},
): Promise<Map<string, UpstreamRequest | string>> {
  const all = new Map<string, UpstreamRequest | string>();
  for (const operation of operations) {
    try {
      all.set(operation.method.name, await requestOf(operation, exampleChainAt(chain), { withStates }));
    } catch (error) {
      if (!(error instanceof UntestableOperation)) throw error;
      all.set(operation.method.name, error.message);
    }
  }
  return all;
}

describe("test requests", () => {
  it("use explicit slots, epochs, indices and roots", async () => {
    for (const [name, request] of await requestsAt(PLACE, { withStates: true })) {
      if (typeof request === "string" || name === "subscribe") continue;
      expect(request.url, name).not.toMatch(/[{}]|\bhead\b(?!s|er)|finalized\b(?!_)/);
    }
  });

  it("follow the method examples", async () => {
    const requests = await requestsAt(PLACE);
    expect(requests.get("get_v1_beacon_states_root")).toMatchObject({ url: "/eth/v1/beacon/states/24/root" });
    expect(requests.get("get_v1_beacon_blocks_blockId")).toMatchObject({ url: `/eth/v2/beacon/blocks/${root("2")}` });
    expect(requests.get("get_v1_beacon_states_stateId_validator_balances")).toMatchObject({
      url: "/eth/v1/beacon/states/24/validator_balances?id=0&id=1&id=2",
    });
    expect(requests.get("post_v1_beacon_rewards_attestations_epoch")).toMatchObject({
      verb: "POST",
      url: "/eth/v1/beacon/rewards/attestations/1",
      body: Buffer.from(JSON.stringify(["1", PUBKEY])),
    });
  });

  it("submit only empty lists", async () => {
    const requests = await requestsAt(PLACE);
    const submissions = operations.filter(({ method }) => method.access === "submit");
    expect(submissions.length).toBeGreaterThan(20);
    for (const { method } of submissions) {
      const request = requests.get(method.name)!;
      if (typeof request !== "string") expect(String(request.body), method.name).toBe("[]");
    }
    expect(requests.get("post_v2_beacon_pool_attestations")).toMatchObject({
      url: "/eth/v2/beacon/pool/attestations",
      headers: { "eth-consensus-version": "fulu" },
    });
    expect(requests.get("post_v2_beacon_blocks")).toBe("it is a submission");
  });

  it("skip untestable operations with the reason", async () => {
    const reasons = await requestsAt({
      ...PLACE,
      fork: ForkName.phase0,
      epoch: 0,
      pubkeys: new Map(),
      peerId: undefined!,
    });
    expect(reasons.get("get_v3_validator_blocks_slot")).toBe("it requires a validator's signature");
    expect(reasons.get("get_v1_beacon_light_client_finality_update")).toBe("the chain has not reached altair");
    expect(reasons.get("get_v1_beacon_states_stateId_randao")).toBe("the chain is too short");
    expect(reasons.get("get_v1_beacon_states_stateId_validators")).toBe("its validators are unknown");
    expect(reasons.get("get_v1_node_peers_peerId")).toBe("it has no known peer");
    expect(reasons.get("get_v1_debug_beacon_states_stateId")).toBe("whole states are requested only with --all");
  });

  it("skip values that cannot be requested", async () => {
    const reasons = await requestsAt({ ...PLACE, peerId: "../\u001b[2J" });
    const reason = "it reports its chain in a form that cannot be requested";
    expect(reasons.get("get_v1_node_peers_peerId")).toBe(reason);
  });

  it("are compared if the answer is immutable", () => {
    const compared = operations.filter(({ isCompared }) => isCompared).map(({ path }) => path.path);
    expect(compared).toEqual(expect.arrayContaining(["/eth/v1/config/spec", "/eth/v1/beacon/states/{state_id}/root"]));
    for (const path of [
      "/eth/v1/node/version",
      "/eth/v1/debug/fork_choice",
      "/eth/v1/validator/duties/proposer/{epoch}",
    ]) {
      expect(compared).not.toContain(path);
    }
  });
});
