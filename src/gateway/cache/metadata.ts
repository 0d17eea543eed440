import type { UpstreamResponse } from "../exchange.ts";

/** What an answer says of itself beside its data; undefined where it does not say so. */
export interface Finality {
  finalized: boolean | undefined;
  optimistic: boolean | undefined;
}

/** No more than this stands before or after the data. */
const EDGE_BYTES = 512;

const NAME = '"(?<name>[a-z_]+)"';
const SCALAR = '(?:true|false|null|-?\\d[\\d.]*|"[^"\\\\]*")';
const MEMBER = new RegExp(`${NAME}\\s*:\\s*(?<value>${SCALAR})`, "g");
const FLAT_MEMBER = `"[a-z_]+"\\s*:\\s*${SCALAR}\\s*`;
/** The members of the body before the first one that is not flat. */
const BEFORE_DATA = new RegExp(`^\\s*\\{\\s*(?:${FLAT_MEMBER},\\s*)*`);
/** Those after the last one that is not: nothing closes between them and the end but the body itself. */
const AFTER_DATA = new RegExp(`(?:,\\s*${FLAT_MEMBER})*\\}\\s*$`);

/** Reads it where the answer has it: in headers, or in the first and last members of a JSON body, whichever of them is the data. */
export function finalityOf(headers: UpstreamResponse["headers"], body: Buffer): Finality {
  const inHeaders = {
    finalized: asBoolean(headers["eth-consensus-finalized"]),
    optimistic: asBoolean(headers["eth-execution-optimistic"]),
  };
  if (inHeaders.finalized !== undefined || body[0] !== OPENING_BRACE) return inHeaders;
  const members = membersAround(body);
  return {
    finalized: asBoolean(members.get("finalized")),
    optimistic: asBoolean(members.get("execution_optimistic")) ?? inHeaders.optimistic,
  };
}

const OPENING_BRACE = "{".charCodeAt(0);

function membersAround(body: Buffer): Map<string, string> {
  const before = BEFORE_DATA.exec(body.toString("latin1", 0, EDGE_BYTES))?.[0] ?? "";
  const after = AFTER_DATA.exec(body.toString("latin1", Math.max(0, body.length - EDGE_BYTES)))?.[0] ?? "";
  const members = new Map<string, string>();
  for (const { groups } of `${before} ${after}`.matchAll(MEMBER)) members.set(groups!.name!, groups!.value!);
  return members;
}

function asBoolean(value: string | undefined): boolean | undefined {
  return value === "true" ? true : value === "false" ? false : undefined;
}
