import { ForkName } from "@lodestar/params";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { catalogue } from "../../src/catalogue/catalogue.ts";
import type { Entry } from "../../src/catalogue/entry.ts";
import { CASES } from "./cases.ts";
import { ConformanceChain } from "./conformance-chain.ts";
import { SPECIAL_CALLS } from "./special-calls.ts";
import { wrongCalls } from "./wrong-params.ts";
import type { Mistake } from "./wrong-payloads.ts";

const INVALID_PARAMS = -32602;

/** What must be in the pools for the cases of other methods; the slot's block is not posted, so that it can still be made. */
const PREPARATIONS: Readonly<Record<ForkName.phase0 | ForkName.fulu, readonly string[]>> = {
  [ForkName.phase0]: ["post_v1_beacon_pool_attestations"],
  [ForkName.fulu]: ["post_v1_beacon_pool_attestations", "post_v1_beacon_pool_sync_committees"],
};

/** Parameters that are nothing but text or true and false, of which every value of their form is legal. */
const NO_GENERATED_FORM: readonly string[] = ["setLogLevel", "setGraffiti", "get_v1_node_peers_peerId", "unsubscribe"];

/** Once the slot has its block, not all of the other cases are good any more. */
const isBlockSubmission = ({ params }: Entry) => /^signed_block/.test(params[0]?.name ?? "");
const blocksLast = [
  ...catalogue.filter((entry) => !isBlockSubmission(entry)),
  ...catalogue.filter((entry) => isBlockSubmission(entry)),
];

describe.each([ForkName.phase0, ForkName.fulu] as const)("on %s", (fork) => {
  let chain: ConformanceChain;
  beforeAll(async () => {
    chain = await ConformanceChain.open(fork);
    for (const name of PREPARATIONS[fork]) await chain.caller.call(name, await CASES[name]!.params(chain));
  });
  afterAll(() => chain?.close());

  it.each(
    Object.entries(SPECIAL_CALLS).flatMap(([name, calls]) =>
      calls
        .filter((call) => call.only === undefined || call.only === fork)
        .map((call) => [name, call.what, call] as const),
    ),
  )("%s: %s", async (name, _what, call) => {
    const params = await call.params(chain);
    if ("code" in call) expect(await chain.caller.error(name, params)).toMatchObject({ code: call.code });
    else expect(await chain.caller.call(name, params)).toEqual(call.result);
  });

  it.each(blocksLast.map((entry) => [entry.name, entry] as const))(
    "%s refuses what is no call of it",
    async (name, entry) => {
      const { params, refused } = CASES[name]!;
      const given = await params(chain);
      const mistakes = new Set<Mistake>();
      for (const wrong of wrongCalls(entry, given)) {
        const { code, message } = await chain.caller.error(name, wrong.params);
        expect({ code, message }, `${wrong.mistake}: ${shown(wrong.params)}`).toMatchObject({ code: INVALID_PARAMS });
        mistakes.add(wrong.mistake);
      }
      expect(mistakes).toContain("count");
      if (entry.params.length > 0) expect(mistakes).toContain("type");
      if (entry.params.length > 0 && !NO_GENERATED_FORM.includes(name)) expect(mistakes).toContain("form");

      // Had the right parameters been refused too, none of the above would have said anything.
      const refusal = refused?.[fork];
      if (refusal === undefined) await chain.caller.call(name, given);
      else expect(await chain.caller.error(name, given)).toMatchObject({ code: refusal });
    },
  );

  it("complained of nothing", () => {
    expect(chain.complaints).toEqual([]);
  });
});

it("has calls out of range or to something unknown for every method with parameters", () => {
  const withParams = catalogue.filter(({ params }) => params.length > 0).map(({ name }) => name);
  expect(Object.keys(SPECIAL_CALLS).sort()).toEqual(withParams.sort());
});

function shown(params: unknown): string {
  const text = JSON.stringify(params);
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}
