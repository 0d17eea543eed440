import { ForkName } from "@lodestar/params";
import { expect, it } from "vitest";
import { createApi } from "../../src/api/api.ts";
import { asBeaconChain, createFakeChain, fakeNetwork } from "../../src/api/fake-chain.test-support.ts";
import { createMethodTable } from "../../src/api/method-table.ts";
import { methods } from "../../src/api/methods.ts";
import { createRouteTable } from "../../src/api/rest/routes.ts";
import v2 from "../fixtures/openapi/v2.5.0.json" with { type: "json" };
import v4 from "../fixtures/openapi/v4.0.0.json" with { type: "json" };
import { isServedOn } from "../support/examples.ts";

/** Operations that are deliberately not served, and why. */
const LEFT_OUT: Record<string, string> = {
  "GET /eth/v1/beacon/blob_sidecars/{block_id}": "deprecated; blobs are not stored",
  "GET /eth/v1/beacon/deposit_snapshot": "removed from the standard; the node follows no deposit contract",
  "GET /eth/v1/builder/states/{state_id}/expected_withdrawals": "removed from the standard",
  "GET /eth/v1/validator/blinded_blocks/{slot}":
    "removed from the standard; `/eth/v3/validator/blocks/{slot}` replaces it",
};

/** The operations that answer 501 whatever the fork is. */
const ALWAYS_REFUSED = new Set(
  methods
    .filter((method) => !isServedOn(method, ForkName.phase0) && !isServedOn(method, ForkName.fulu))
    .flatMap(({ rest }) => rest.map(({ verb, path }) => `${verb} ${path}`)),
);

const stateOf = (operation: string) => (ALWAYS_REFUSED.has(operation) ? "answers 501" : "served");

type Document = { paths: Record<string, object> };

function operationsOf({ paths }: Document): string[] {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.keys(verbs)
      .filter((verb) => verb === "get" || verb === "post")
      .map((verb) => `${verb.toUpperCase()} ${path}`),
  );
}

/** Every operation that one of the documents or the node has, with its state, as Markdown. */
function ledger(): string {
  const fake = createFakeChain([{ fork: "fulu", epoch: 0 }]);
  const api = createApi({ chain: asBeaconChain(fake), network: fakeNetwork(fake), setLogSpec: () => {} });
  const served = new Set(createRouteTable(createMethodTable(api)).map(({ verb, path }) => `${verb} ${path}`));
  const documents = [operationsOf(v2 as Document), operationsOf(v4 as Document)].map((list) => new Set(list));
  const all = [...new Set([...documents.flatMap((document) => [...document]), ...served])];
  const rows = all.sort(byPath).map((operation) => {
    const within = documents.map((document) => (document.has(operation) ? "yes" : ""));
    const state = served.has(operation) ? stateOf(operation) : `not served: ${LEFT_OUT[operation]}`;
    return `| \`${operation}\` | ${within.join(" | ")} | ${state} |`;
  });
  return [
    "# REST operations",
    "",
    "Every operation of the standard beacon API in its versions 2.5.0 and 4.0.0, and those that are served beside them.",
    "An operation of a fork to come, or of middleware that this node is not, answers 501.",
    "",
    "| Operation | 2.5.0 | 4.0.0 | Fanal |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function byPath(a: string, b: string): number {
  const [pathOfA, pathOfB] = [a, b].map((operation) => operation.split(" ")[1]!);
  return pathOfA! < pathOfB! ? -1 : pathOfA! > pathOfB! ? 1 : a < b ? -1 : 1;
}

it("is what docs/rest.md says; `npx vitest run test/rest/ledger.test.ts --update` writes it anew", async () => {
  const text = ledger();
  expect(text).not.toContain("undefined");
  await expect(text).toMatchFileSnapshot("../../docs/rest.md");
});
