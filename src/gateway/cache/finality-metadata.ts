import type { UpstreamResponse } from "../upstream/upstream-call.ts";

/** Finality metadata of a response. Undefined where it is missing. */
export interface FinalityMetadata {
  finalized: boolean | undefined;
  optimistic: boolean | undefined;
}

/** Metadata before or after `data` is shorter than this. */
const EDGE_BYTES = 512;

const NAME = '"(?<name>[a-z_]+)"';
const SCALAR = '(?:true|false|null|-?\\d[\\d.]*|"[^"\\\\]*")';
const MEMBER = new RegExp(`${NAME}\\s*:\\s*(?<value>${SCALAR})`, "g");
const FLAT_MEMBER = `"[a-z_]+"\\s*:\\s*${SCALAR}\\s*`;
/** Scalar members before the first array or object. */
const BEFORE_DATA = new RegExp(`^\\s*\\{\\s*(?:${FLAT_MEMBER},\\s*)*`);
/** Scalar members after the last array or object. */
const AFTER_DATA = new RegExp(`(?:,\\s*${FLAT_MEMBER})*\\}\\s*$`);

/** Reads the metadata from the headers, or from the first and last members of a JSON body. */
export function readFinalityMetadata(headers: UpstreamResponse["headers"], body: Buffer): FinalityMetadata {
  const inHeaders = {
    finalized: parseBoolean(headers["eth-consensus-finalized"]),
    optimistic: parseBoolean(headers["eth-execution-optimistic"]),
  };
  if (inHeaders.finalized !== undefined || body[0] !== OPENING_BRACE) return inHeaders;
  const members = edgeMembers(body);
  return {
    finalized: parseBoolean(members.get("finalized")),
    optimistic: parseBoolean(members.get("execution_optimistic")) ?? inHeaders.optimistic,
  };
}

const OPENING_BRACE = "{".charCodeAt(0);

function edgeMembers(body: Buffer): Map<string, string> {
  const before = BEFORE_DATA.exec(body.toString("latin1", 0, EDGE_BYTES))?.[0] ?? "";
  const after = AFTER_DATA.exec(body.toString("latin1", Math.max(0, body.length - EDGE_BYTES)))?.[0] ?? "";
  const members = new Map<string, string>();
  for (const { groups } of `${before} ${after}`.matchAll(MEMBER)) members.set(groups!.name!, groups!.value!);
  return members;
}

function parseBoolean(value: string | undefined): boolean | undefined {
  return value === "true" ? true : value === "false" ? false : undefined;
}
