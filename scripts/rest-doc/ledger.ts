import { ForkName } from "@lodestar/params";
import { methods } from "../../src/api/method-groups.ts";
import v2 from "../../test/fixtures/openapi/v2.5.0.json" with { type: "json" };
import v4 from "../../test/fixtures/openapi/v4.0.0.json" with { type: "json" };
import { isServedOn } from "../../test/support/examples.ts";

/** The operations that answer 501 whatever the fork is. */
const ALWAYS_REFUSED = new Set(
  methods
    .filter((method) => !isServedOn(method, ForkName.phase0) && !isServedOn(method, ForkName.fulu))
    .flatMap(({ rest }) => rest.map(({ verb, path }) => `${verb} ${path}`)),
);

/** The operations that answer 501 about slots from a fork on, with that fork. */
const SERVED_UNTIL = new Map<string, string>(
  methods.flatMap(({ rest }) =>
    rest.flatMap(({ verb, path, until }) => (until ? [[`${verb} ${path}`, until.fork] as const] : [])),
  ),
);

function stateOf(operation: string): string {
  if (ALWAYS_REFUSED.has(operation)) return "answers 501 to a right request";
  const until = SERVED_UNTIL.get(operation);
  return until === undefined ? "served" : `served until ${until}`;
}

type Document = { paths: Record<string, object> };

function operationsOf({ paths }: Document): string[] {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.keys(verbs)
      .filter((verb) => verb === "get" || verb === "post")
      .map((verb) => `${verb.toUpperCase()} ${path}`),
  );
}

export interface Ledger {
  text: string;
  operations: number;
}

/** Every operation that one of the documents or the node has, with its state, as Markdown. */
export function ledger(): Ledger {
  const served = new Map<string, string>(
    methods.flatMap(({ rest }) => rest.map(({ verb, path, ssz }) => [`${verb} ${path}`, ssz ?? ""] as const)),
  );
  const documents = [operationsOf(v2 as Document), operationsOf(v4 as Document)].map((list) => new Set(list));
  const all = [...new Set([...documents.flatMap((document) => [...document]), ...served.keys()])];
  const rows = all.sort(byPath).map((operation) => {
    const within = documents.map((document) => (document.has(operation) ? "yes" : ""));
    const ssz = served.get(operation);
    if (ssz === undefined) throw new Error(`${operation} is not served.`);
    return `| \`${operation}\` | ${within.join(" | ")} | ${ssz} | ${stateOf(operation)} |`;
  });
  const text = [
    "# REST operations",
    "",
    '<!-- Made by "npm run docs" from the definitions of the methods. Changes here are lost: make them there. -->',
    "",
    "Every operation of the standard beacon API in its versions 2.5.0 and 4.0.0, and those that are served beside them.",
    "All answer and take JSON; where SSZ is named, the answer or the body may be SSZ as well, as the standard has it.",
    "An operation of a fork to come, or of middleware that this node is not, answers 501; so does one that is served until a",
    "fork where it is asked about a slot of that fork or a later one. The JSON-RPC method behind it answers there, too.",
    "",
    "| Operation | 2.5.0 | 4.0.0 | SSZ | Fanal |",
    "|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
  return { text, operations: all.length };
}

function byPath(a: string, b: string): number {
  const [pathOfA, pathOfB] = [a, b].map((operation) => operation.split(" ")[1]!);
  return pathOfA! < pathOfB! ? -1 : pathOfA! > pathOfB! ? 1 : a < b ? -1 : 1;
}
