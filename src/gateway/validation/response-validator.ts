import { isUtf8 } from "node:buffer";
import { ACTIVE_PRESET } from "@lodestar/params";
import type { MethodDefinition } from "../../api/definition.ts";
import { CLOSING_BRACKET, OPENING_BRACKET, skipSpace } from "../../json/value-bounds.ts";
import { MEDIA_TYPES, mediaTypeOf } from "../../server/http/response/negotiation.ts";
import { checkBodyEnd, MAX_BYTES_BEFORE_DATA } from "../calls/responses/data-scanner.ts";
import { isStatusOnly, isWrapped } from "../calls/responses/response-form.ts";
import type { ChainSpec } from "../network/chain-spec.ts";
import { KNOWN_FORKS } from "../network/spec-constants.ts";
import { memberOf } from "../upstream/client/json-fields.ts";
import type { UpstreamCall, UpstreamResponse } from "../upstream/upstream-call.ts";
import { type BlockForm, findMemberViolation } from "./fork-members.ts";
import { anyString, type Check, INCOMPLETE, INVALID, JsonScan, objectOf } from "./json-scan.ts";
import { findForkViolation, NETWORK_CHECKS, settledForkAt } from "./network-checks.ts";
import { findBlockJsonViolation, needsWholeBody, requestedRoot, typedForkOf } from "./requested-roots.ts";
import { rulesOf } from "./rules.ts";
import { compileOutline, compileSchema } from "./schema-checks.ts";
import { slotOf } from "./slots.ts";
import { findSszViolation, sszForkSlot } from "./ssz-checks.ts";
import { hexString, matchingString } from "./string-checks.ts";

/**
 * Operations that describe the node rather than the chain. Clients differ in the details, so only the outline is
 * checked, as for nonstandard methods.
 */
const NODE_PATH = /^\/eth\/v\d+\/(?:node\/|debug\/fork_choice$)/;

/** The parts of a call that determine a valid answer. */
type ValidatedCall = Pick<UpstreamCall, "method" | "request" | "params">;

const checks = new WeakMap<MethodDefinition, Check>();

/** Identifies the checks that apply to the answer of a call. Stored with cached answers. */
export function validationKind({ method, format }: Pick<UpstreamCall, "method" | "format">): string {
  return `${method.name} ${format}`;
}

/** Bodies up to this size, which upstream clients buffer, are checked as a whole. */
const WHOLE_BYTES = 64 * 1024;
/** By default, longer bodies are checked up to this offset and at their end. */
const START_BYTES = MAX_BYTES_BEFORE_DATA;

interface ValidationOptions {
  /** Network of the answer. Undefined skips the comparison with its forks and constants. */
  readonly chainSpec?: ChainSpec | undefined;
  /** JSON of more than 64 KiB is checked up to this size, and its end. */
  readonly maxBytes?: number;
}

/**
 * Returns why a successful response cannot be an answer to the call, as a clause without the upstream, or undefined.
 * SSZ is checked by its fixed part and length. Of a streamed body, only the start is known.
 */
export function findViolation(
  call: ValidatedCall,
  response: UpstreamResponse,
  { chainSpec, maxBytes = START_BYTES }: ValidationOptions = {},
): string | undefined {
  const { status, headers, body, start } = response;
  const { method } = call;
  if (status !== 200 || isStatusOnly(method) || method.feed !== undefined) return undefined;
  const isWhole = Buffer.isBuffer(body);
  const bytes = isWhole ? body : start;
  if (bytes === undefined) return undefined;
  const fork = headers["eth-consensus-version"];
  if (isSsz(response)) {
    const length = isWhole ? bytes.length : parseLength(headers["content-length"]);
    const violation = findSszViolation(call.request.url, call.params, { start: bytes, length, fork, chainSpec });
    if (violation !== undefined) return `the body ${violation}`;
    const slot = sszForkSlot(call.request.url, bytes) ?? requestedForkSlot(call);
    return chainSpec && findForkViolation({ header: fork }, slot, chainSpec);
  }
  if (isWhole && (bytes.length <= Math.max(maxBytes, WHOLE_BYTES) || needsWholeBody(call)))
    return findJsonViolation(call, bytes, { isWhole, fork, chainSpec });
  const violation = findJsonViolation(call, bytes.subarray(0, maxBytes), { isWhole: false, fork, chainSpec });
  return violation ?? (isWhole ? findEndViolation(bytes, isWrapped(method)) : undefined);
}

/** Returns the slot of the requested state: parts of a state do not contain its slot. */
const requestedForkSlot = ({ params }: Pick<ValidatedCall, "params">) => slotOf(params.state_id);

/** Returns true if `findViolation` checks all of the body by default. */
export function isCheckedWhole(call: ValidatedCall, { body }: Pick<UpstreamResponse, "body">): boolean {
  return Buffer.isBuffer(body) && (body.length <= WHOLE_BYTES || needsWholeBody(call));
}

export function isSsz({ headers }: Pick<UpstreamResponse, "headers">): boolean {
  return mediaTypeOf(headers["content-type"]) === MEDIA_TYPES.ssz;
}

function parseLength(contentLength: string | undefined): number | undefined {
  return contentLength === undefined ? undefined : Number(contentLength);
}

interface JsonOptions extends Pick<ValidationOptions, "chainSpec"> {
  isWhole: boolean;
  fork: string | undefined;
}

function findJsonViolation(
  call: ValidatedCall,
  bytes: Buffer,
  { isWhole, fork, chainSpec }: JsonOptions,
): string | undefined {
  const { method, params, request } = call;
  const isUnknownFork = fork !== undefined && !KNOWN_FORKS.has(fork.toLowerCase());
  const scan = new JsonScan(bytes, { params, requestBody: request.body, chainSpec, isUnknownFork });
  const end = checkOf(method)(scan, skipSpace(bytes, 0));
  if (end === INVALID) return `${scan.path === "" ? "the body" : scan.path.replace(/^\./, "")} ${scan.violation}`;
  const violation =
    (chainSpec && findNetworkViolation(call, scan, { isWhole, fork, chainSpec })) ??
    findBlockViolation(call, scan, { fork, chainSpec });
  if (violation !== undefined) return violation;
  const wrongBlock = end > 0 ? findWrongBlock(call, scan, { fork, chainSpec }) : undefined;
  if (wrongBlock !== undefined) return `data ${wrongBlock}`;
  if (end === INCOMPLETE) {
    if (isWhole) return "the body is truncated";
    const isLate = !scan.hasReachedData && bytes.length >= MAX_BYTES_BEFORE_DATA;
    return isLate ? `the body has no member "data" within its first ${bytes.length} bytes` : undefined;
  }
  if (skipSpace(bytes, end) < bytes.length) return "the body continues after its end";
  return isWhole && !isUtf8(bytes) ? "the body is not valid UTF-8" : undefined;
}

/** Compares the part of an answer that was scanned with the forks, genesis and constants of the network. */
function findNetworkViolation(
  call: ValidatedCall,
  { version, slot = requestedForkSlot(call), networkText }: JsonScan,
  { isWhole, fork: header, chainSpec }: JsonOptions & { chainSpec: ChainSpec },
): string | undefined {
  const check = NETWORK_CHECKS.get(pathOf(call.method));
  if (check === undefined) return findForkViolation({ header, version }, slot, chainSpec);
  if (networkText !== undefined) return check(JSON.parse(networkText), chainSpec);
  return isWhole ? undefined : "the body is too long to be compared with the network";
}

/** Forms of blocks by path. */
const BLOCK_FORMS: readonly [path: RegExp, form: BlockForm][] = [
  [/\/(?:beacon|v[12]\/validator)\/blocks\/\{\w+\}$/, "full"],
  [/\/blinded_blocks\/\{\w+\}$/, "blinded"],
  [/\/v3\/validator\/blocks\/\{slot\}$/, "either"],
];

const formOf = (path = "") => BLOCK_FORMS.find(([pattern]) => pattern.test(path))?.[1];

/** Compares the members of a block body with its form and fork. */
function findBlockViolation(
  { method }: ValidatedCall,
  { bodyMembers, version, slot }: JsonScan,
  { fork, chainSpec }: Omit<JsonOptions, "isWhole">,
): string | undefined {
  if (bodyMembers === undefined) return undefined;
  const form = formOf(pathOf(method));
  const scheduled = chainSpec && slot !== undefined ? settledForkAt(chainSpec, slot) : undefined;
  return form && findMemberViolation(bodyMembers, form, { stated: (version ?? fork)?.toLowerCase(), scheduled });
}

/** Compares the root of a block with the requested one. */
function findWrongBlock(
  { method, params }: ValidatedCall,
  scan: JsonScan,
  { fork: header, chainSpec }: Omit<JsonOptions, "isWhole">,
): string | undefined {
  const form = formOf(pathOf(method));
  if (form === undefined || scan.data === undefined || requestedRoot(params.block_id) === undefined) return undefined;
  const fork = typedForkOf({ slot: scan.slot, stated: scan.version ?? header, chainSpec });
  if (fork === undefined) return undefined;
  const data = scan.parse(...scan.data);
  return findBlockJsonViolation(data, { fork, isBlinded: form === "blinded", blockId: params.block_id });
}

function findEndViolation(bytes: Buffer, isWrapped: boolean): string | undefined {
  try {
    checkBodyEnd({ start: bytes, rest: bytes, passedBytes: 0, isWrapped }, "");
    return undefined;
  } catch {
    return "the body is truncated";
  }
}

function checkOf(method: MethodDefinition): Check {
  let check = checks.get(method);
  if (check === undefined) {
    check = compileCheck(method);
    checks.set(method, check);
  }
  return check;
}

function compileCheck(method: MethodDefinition): Check {
  const {
    rest,
    result: { schema },
  } = method;
  const path = pathOf(method);
  const outline = compileOutline(schema);
  const isOutlineOnly = (path === undefined && rest.length > 0) || (path !== undefined && NODE_PATH.test(path));
  const schemaCheck = isOutlineOnly ? outline : compileSchema(schema, rulesOf(path ?? ""));
  const dataCheck = isSpec(path) ? specMembers : notEmpty(schemaCheck, filtersOf(rest));
  const isOfNetwork = NETWORK_CHECKS.has(path);
  const hasSlot = formOf(path) !== undefined;
  const data: Check = (scan, at) => {
    scan.hasReachedData = true;
    const end = dataCheck(scan, at);
    // Answers about the network do not belong to a fork.
    if (end === INVALID && scan.isUnknownFork && !isOfNetwork) return afterUnknownFork(scan, at, { outline, hasSlot });
    if (end > 0) scan.data = [at, end];
    if (isOfNetwork && end > 0) scan.networkText = scan.bytes.toString("utf8", at, end);
    return end;
  };
  if (!isWrapped(method)) return data;
  return objectOf([
    { name: "version", check: forkName, isRequired: false },
    { name: "data", check: data, isRequired: true },
  ]);
}

/**
 * Checks only the outline of an answer of an unknown fork. Keeps the violation if a block has no slot, or if its slot
 * belongs to a settled fork other than the last known one.
 */
function afterUnknownFork(
  scan: JsonScan,
  at: number,
  { outline, hasSlot }: { outline: Check; hasSlot: boolean },
): number {
  const { violation, path, chainSpec } = scan;
  const end = outline(scan, at);
  if (end < 0 || chainSpec === undefined) return end;
  const slot = slotIn(scan.parse(at, end)) ?? requestedForkSlot(scan);
  const fork = slot === undefined ? undefined : settledForkAt(chainSpec, slot);
  const mayBeLater = slot === undefined ? !hasSlot : fork === undefined || fork === LAST_FORK;
  if (mayBeLater) return end;
  scan.violation = violation;
  scan.path = path;
  return INVALID;
}

const LAST_FORK = [...KNOWN_FORKS].at(-1);

/** Returns the slot of a block, produced block or state. */
function slotIn(data: unknown): number | undefined {
  const parts = [data, memberOf(data, "message"), memberOf(data, "block")];
  const slots = parts.map((part) => memberOf(part, "slot"));
  return slotOf(slots.find((slot) => typeof slot === "string"));
}

/** Returns the path of a method in the Beacon API. */
const pathOf = ({ rest }: MethodDefinition) => rest.find((each) => each.path.startsWith("/eth/"))?.path;

const isSpec = (path: string | undefined) => path === "/eth/v1/config/spec";

/** Checks the members that all clients have in their spec. The preset must be that of the gateway. */
const specMembers = objectOf([
  { name: "PRESET_BASE", check: matchingString(new RegExp(`^${ACTIVE_PRESET}$`)), isRequired: true },
  { name: "GENESIS_FORK_VERSION", check: hexString(4), isRequired: true },
]);

/** Lists that must be non-empty unless a filter parameter is set. */
const NEVER_EMPTY: readonly [path: RegExp, filters: readonly string[]][] = [
  [/\/config\/fork_schedule$/, []],
  [/\/states\/\{state_id\}\/validators$/, ["id", "status"]],
  [/\/states\/\{state_id\}\/validator_balances$/, ["id"]],
  [/\/states\/\{state_id\}\/committees$/, ["index", "slot"]],
  [/\/validator\/duties\/proposer\/\{epoch\}$/, []],
];

/** Returns the filters of a list that is otherwise never empty. Filters in a request body are unknown. */
function filtersOf(rest: MethodDefinition["rest"]): readonly string[] | undefined {
  const reads = rest.filter(({ verb }) => verb === "GET");
  return NEVER_EMPTY.find(([pattern]) => reads.some(({ path }) => pattern.test(path)))?.[1];
}

function notEmpty(check: Check, filters: readonly string[] | undefined): Check {
  if (filters === undefined) return check;
  return (scan, at) => {
    const { bytes, params } = scan;
    const isEmpty = bytes[at] === OPENING_BRACKET && bytes[skipSpace(bytes, at + 1)] === CLOSING_BRACKET;
    return isEmpty && filters.every((name) => params[name] === undefined) ? scan.fail("is empty") : check(scan, at);
  };
}

/** Checks the member `version`, and records whether its fork is known. */
const forkName: Check = (scan, at) => {
  const end = anyString(scan, at);
  if (end === at + 2) return scan.fail("is empty");
  if (end > 0) {
    scan.version = scan.bytes.toString("latin1", at + 1, end - 1);
    scan.isUnknownFork = !KNOWN_FORKS.has(scan.version.toLowerCase());
  }
  return end;
};
