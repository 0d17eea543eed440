import { gunzipSync } from "node:zlib";
import { ssz } from "@lodestar/types";
import { toRootHex } from "@lodestar/utils";
import { describe, expect, it } from "vitest";
import { type ForkChoiceSubject, forkChoiceAnchor, runForkChoiceSteps } from "../support/vectors/fork-choice-steps.ts";
import { readTar } from "../support/vectors/tar.ts";
import { VectorCase } from "../support/vectors/vector-case.ts";
import { vectorCases } from "../support/vectors/vector-source.ts";

/** Made with `tar --format=<key>`, gzip and base64. */
const ARCHIVES = {
  gnu:
    "H4sIAAAAAAACA+3T0QrCIBiGYS/FK9hcMz3tAnYTo6xFoeAMuvxJQVAnEeGg9j4nn3j681Z1VW+64A/d0Z9EGSozWt82e121au3j" +
    "ff+31q6F7MQMLmPqo5RiofbhvHOxLjjXLwj8wf3f9Z97f+6/bVRjhFT0X9w2+OR8IoSFGocQS1//4/6VsUbT/xx6H9LgIiEAAAAA" +
    "AAAAAAAAwI+bAIieA+IAKAAA",
  ustar:
    "H4sIAAAAAAACA+3UTQqAIBCGYY/SDbKQPE/0Q4tQMIOO39AqWvUP0ftsPnExMsjMNJ2ndtKiMGZJsU1hV2e5N9ZmViVavWAcYhnk" +
    "+at1ts21vq+bkD4X97RfeRcbFxX+aeh8ePr3D89/pvPCfHz+P6J0PnZ3LRMAAAAAAAAAAAAAAAC8bgYw1qtPACgAAA==",
  pax:
    "H4sIAAAAAAACA+3VQQqDMBAF0Kx7Ck+gM0aTuHDfZa8Q2oiFVoum4PGruCgESilFofW/TcBZhOB8ftVeTq5LquWOg6WRyjJBs/Ak" +
    "+ZzN3yWTliIaxAruvbfdeL3YJlYmullfl9XiizB8YScpsv58dSXrImcujDRxUZhpdwxP02M4zXU2TZXeCXhpjd/+Lv9EOsh/KlmJ" +
    "iH4p/+HjfsSxbbxrPIKwUfHYz8Pe2TGpfdLXbbfAKrzNvw76n1mmjP5fA3p12xaK/Gf5D/ufKVUZ+n8Ntml97ToEAQAAAAAAAAAA" +
    "AAAA4E88AAbw8VcAKAAA",
};

describe("reference vectors", () => {
  it("all cases of a runner are found", () => {
    const fulu = ["finality", "fork_choice", "merkle_proof", "networking", "sanity"];
    expect(fulu.map((runner) => vectorCases("fulu", runner).length)).toEqual([5, 66, 4, 192, 101]);
    const gloas = ["epoch_processing", "finality", "fork", "fork_choice", "networking", "operations", "random"];
    expect(gloas.map((runner) => vectorCases("gloas", runner).length)).toEqual([170, 5, 33, 88, 291, 454, 16]);
  });

  it("files of a case are decoded", () => {
    const [vector] = vectorCases("fulu", "fork_choice").filter(({ id }) => id === "get_head/genesis");
    const { block, stateBytes } = forkChoiceAnchor(vector!);
    expect(toRootHex(ssz.fulu.BeaconState.hashTreeRoot(ssz.fulu.BeaconState.deserialize(stateBytes)))).toBe(
      toRootHex(block.stateRoot),
    );
    expect(vector!.yaml<object[]>("steps")[0]).toMatchObject({ checks: { genesis_time: 0 } });
    expect(() => vector!.bytes("absent")).toThrow("The case get_head/genesis has no file absent.ssz_snappy.");
  });

  it("an unknown runner is an error", () => {
    expect(() => vectorCases("fulu", "absent")).toThrow("There are no vectors of fulu/absent");
  });
});

describe("tar archives", () => {
  it("names of more than 100 characters are read in the formats of GNU tar, of POSIX and of pax", () => {
    for (const archive of Object.values(ARCHIVES)) {
      const files = readTar(gunzipSync(Buffer.from(archive, "base64")));
      expect([...files].map(([path, content]) => [path, Buffer.from(content).toString()])).toEqual([
        [`${"folder/".repeat(14)}${"x".repeat(60)}`, "content"],
        ["short", "another"],
      ]);
    }
  });
});

describe("steps of fork choice", () => {
  const STEPS = "- {tick: 6}\n- {tick: 7, valid: false}\n- checks: {time: 6, head: {slot: 0, root: '0xaa'}}\n";

  it("as expected", async () => {
    expect(await runForkChoiceSteps(caseOf(STEPS), clock())).toBe(3);
  });

  it.each<[string, string, Partial<ForkChoiceSubject>]>([
    ["a wrong head", "Step 2 .* head is .*0xbb.* expected .*0xaa", { head: () => ({ slot: 0, root: "0xbb" }) }],
    ["an accepted invalid step", "Step 1 .*accepted, but invalid", { onTick() {} }],
    ["a refused valid step", "Step 0 .*too late", { onTick: () => Promise.reject(new RangeError("too late")) }],
    ["an error that is no refusal", "Step 1 .*later than 6", { isRefusal: () => false }],
  ])("%s fails", async (_, message, part) => {
    await expect(runForkChoiceSteps(caseOf(STEPS), { ...clock(), ...part })).rejects.toThrow(new RegExp(message));
  });

  it("kinds of steps and checks that are not known fail", async () => {
    await expect(runForkChoiceSteps(caseOf("- {flight: 1}"), clock())).rejects.toThrow("unknown kind of step");
    await expect(runForkChoiceSteps(caseOf("- checks: {flight: 1}"), clock())).rejects.toThrow("unknown check flight");
    const votes = "- checks: {payload_timeliness_vote: {block_root: '0xaa', votes: []}}";
    await expect(runForkChoiceSteps(caseOf(votes), clock())).rejects.toThrow("has no payloadTimelinessVotes");
  });
});

function caseOf(steps: string): VectorCase {
  const path = { fork: "fulu", runner: "fork_choice", handler: "h", suite: "s", name: "n" };
  return new VectorCase(path, new Map([["steps.yaml", () => Buffer.from(steps)]]));
}

/** Accepts ticks up to 6 and nothing else. */
function clock(): ForkChoiceSubject {
  let now = 0;
  const refuse = () => {
    throw new Error("unexpected");
  };
  const none = { epoch: 0, root: "0xaa" };
  return {
    isRefusal: (error) => error instanceof RangeError,
    onTick(time) {
      if (time > 6) throw new RangeError("later than 6");
      now = time;
    },
    onBlock: refuse,
    onAttestation: refuse,
    onAttesterSlashing: refuse,
    head: () => ({ slot: 0, root: "0xaa" }),
    time: () => now,
    genesisTime: () => 0,
    justifiedCheckpoint: () => none,
    finalizedCheckpoint: () => none,
    proposerBoostRoot: refuse,
    viableHeads: refuse,
    proposerHead: refuse,
  };
}
