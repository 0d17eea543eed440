import { ForkName } from "@lodestar/params";
import { describe, expect, it, vi } from "vitest";
import { ServedChain, SSZ_TYPE } from "./served-chain.ts";

const rest = new ServedChain(ForkName.phase0);
const { ask, data } = rest;

describe("immutable responses", () => {
  it("are cached by root, and revalidated by slot", async () => {
    const bySlot = await ask("/eth/v2/beacon/blocks/3");
    expect(bySlot.headers.get("cache-control")).toBe("no-cache");
    const tag = bySlot.headers.get("etag")!;
    expect((await ask("/eth/v2/beacon/blocks/3", { headers: { "If-None-Match": tag } })).status).toBe(304);
    const { root } = await data("/eth/v1/beacon/blocks/3/root");
    const byRoot = await ask(`/eth/v2/beacon/blocks/${root}`);
    expect(byRoot.text).toBe(bySlot.text);
    expect(byRoot.headers.get("cache-control")).toContain("immutable");
    for (const id of ["finalized", "genesis", "head", rest.chain.chain.head.root, String(rest.chain.chain.head.slot)]) {
      expect((await ask(`/eth/v2/beacon/blocks/${id}`)).headers.get("cache-control"), id).toBe("no-store");
    }
  });

  it.each([
    "/eth/v2/debug/beacon/states/{state_id}",
    "/eth/v1/beacon/states/{state_id}/root",
    "/eth/v1/beacon/states/{state_id}/validators",
    "/eth/v1/beacon/states/{state_id}/validator_balances?id=1",
    "/eth/v1/beacon/states/{state_id}/committees",
  ])("about states: %s", async (template) => {
    const ask = (id: string, headers: Record<string, string> = {}) =>
      rest.ask(template.replace("{state_id}", id), { headers });
    const { root } = await data("/eth/v1/beacon/states/3/root");
    for (const [id, caching] of [
      ["3", "no-cache"],
      [root, "immutable"],
    ]) {
      const { headers, text } = await ask(id);
      expect(headers.get("cache-control")).toContain(caching);
      const tag = headers.get("etag")!;
      expect((await ask(id, { "If-None-Match": '"other"' })).text).toBe(text);

      const states = vi.spyOn(rest.chain.chain.states, "afterBlock");
      const again = await ask(id, { "If-None-Match": tag });
      expect(again).toMatchObject({ status: 304, text: "" });
      expect(again.headers.get("etag")).toBe(tag);
      expect(again.headers.get("cache-control")).toContain(caching);
      expect(states).not.toHaveBeenCalled();
      states.mockRestore();
      expect((await ask("4", { "If-None-Match": tag })).status).toBe(200);
    }
    for (const id of ["finalized", "genesis", "head", String(rest.chain.chain.head.slot)]) {
      const { headers } = await ask(id);
      expect([headers.get("cache-control"), headers.has("etag")], id).toEqual(["no-store", false]);
    }
    expect((await ask("3x", { "If-None-Match": "*" })).status).toBe(400);
  });

  it("may be of a state, as JSON or SSZ, whole or filtered", async () => {
    const tagOf = async (path: string, accept = "application/json") =>
      (await ask(`/eth/${path}`, { headers: { Accept: accept } })).headers.get("etag");
    const tags = await Promise.all([
      tagOf("v2/debug/beacon/states/3"),
      tagOf("v2/debug/beacon/states/3", SSZ_TYPE),
      tagOf("v1/beacon/states/3/validators"),
      tagOf("v1/beacon/states/3/validators?id=1"),
    ]);
    expect(tags).not.toContain(null);
    expect(new Set(tags).size).toBe(tags.length);
  });

  it("have different ETags as JSON and SSZ", async () => {
    const inSsz = await ask("/eth/v2/beacon/blocks/3", { headers: { Accept: SSZ_TYPE } });
    expect(inSsz.headers.get("content-type")).toBe(SSZ_TYPE);
    expect(inSsz.headers.get("eth-consensus-version")).toBe("phase0");
    expect(inSsz.headers.get("etag")).not.toBe((await ask("/eth/v2/beacon/blocks/3")).headers.get("etag"));
  });
});

it("logged no warnings or errors", () => rest.expectNoComplaints());
