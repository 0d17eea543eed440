import { describe, expect, it } from "vitest";
import { methods } from "../../api/method-groups.ts";
import { EXIT_CODES } from "../exit.ts";
import { exampleLines } from "./example-call.ts";
import { describeMethods } from "./methods.ts";

const description = (...words: string[]) => describeMethods(words, { json: false });
const listed = async (...words: string[]) => {
  const found = JSON.parse(await describeMethods(words, { json: true })) as { name: string }[];
  return found.map(({ name }) => name);
};

describe("method search", () => {
  it("matches names, aliases, summaries and REST paths", async () => {
    expect(await listed()).toEqual(methods.map(({ name }) => name));
    expect(await listed("GetGossip")).toEqual(["debug_getGossipSubPeers"]);
    expect(await listed("get_v1_events")).toEqual(["subscribe"]);
    expect(await listed("/eth/v1/beacon/genesis")).toEqual(["get_v1_beacon_genesis"]);
    expect(await listed("hash tree", "state_id")).toContain("get_v1_beacon_states_root");
  });

  it("groups matches under headings", async () => {
    const text = await description("voluntary");
    expect(text).toMatch(/^Pools\n/);
    expect(text).toContain("post_v1_beacon_pool_voluntary_exits");
    expect(text).not.toContain("Beacon chain");
  });

  it("suggests the nearest method without a match", async () => {
    await expect(description("liveness", "genesis")).rejects.toThrow('No method matches "liveness genesis" by name');
    await expect(description("getChainHed")).rejects.toMatchObject({
      exitCode: EXIT_CODES.usage,
      message: expect.stringMatching(/^No method matches "getChainHed" by .* Did you mean getChainHead, /),
    });
    await expect(description("qqqqqqqqqqqqqqqqqqq")).rejects.toThrow('"fanal methods" lists them all.');
  });
});

describe("method details", () => {
  it("are printed for a name and for an alias", async () => {
    const text = await description("get_v1_beacon_states_stateId_committees");
    expect(text).toBe(await description("get_v1_beacon_states_stateId_committees_epoch"));
    for (const part of [
      "\nParameters\n  state_id (required): ",
      "\n  epoch (optional): string or integer\n    Epoch. Default: the epoch of the state.\n",
      "\nErrors\n  -32602 Invalid params: ",
      "\n  -32001 Not found: ",
      "\nREST\n  GET /eth/v1/beacon/states/{state_id}/committees\n",
    ]) {
      expect(text).toContain(part);
    }
  });

  it("describe the types of the result", async () => {
    expect(await description("get_v1_beacon_headers")).toMatch(
      /\nResult\n {2}\[BlockHeader\]\n\nTypes\n {2}BlockHeader: \{ root: Root, .*\n {2}Root: string \(32 bytes/,
    );
  });
});

describe("example of a method", () => {
  const linesOf = (name: string) => exampleLines(methods.find((method) => method.name === name)!);

  it("can be pasted into a shell", async () => {
    expect(await linesOf("post_v1_validator_liveness_epoch")).toEqual([
      'fanal call post_v1_validator_liveness_epoch 5 \'["3","4"]\'',
      "curl -s http://127.0.0.1:9190 -H 'Content-Type: application/json' \\",
      `  -d '{"jsonrpc":"2.0","id":1,"method":"post_v1_validator_liveness_epoch","params":["5",["3","4"]]}'`,
    ]);
  });

  it("reads payloads from files", async () => {
    const [call, , data] = await linesOf("post_v2_beacon_blocks");
    expect(call).toBe("fanal call post_v2_beacon_blocks @signed_block_or_contents.json consensus fulu");
    expect(data).toContain(`"params":['"$(cat signed_block_or_contents.json)"',"consensus","fulu"]}'`);
  });

  it("exists for every method, as JSON except for files", async () => {
    for (const { name } of methods) {
      const line = (await linesOf(name)).at(-1)!;
      const request = line.slice(line.indexOf("{"), line.lastIndexOf("}") + 1);
      expect(JSON.parse(request.replaceAll(/'"\$\(cat \w+\.json\)"'/g, "{}")), name).toMatchObject({ method: name });
    }
  });
});
