import { z } from "zod";
import type { SszPath } from "../proofs/ssz-path.ts";
import { parseInteger } from "./scalars.ts";
import { addIssue, describeValue, type ParamSchema } from "./schema.ts";

/** The path or generalized index of a value to be proven. */
export type ProofTarget = SszPath | bigint;

/** The parsed `path` parameter of a proof method. */
export interface ProofRequest {
  readonly targets: readonly ProofTarget[];
  /** True if a list was given, even if it has only one target. The result is a multiproof in this case. */
  readonly isList: boolean;
}

/** Maximum number of targets per proof, because creating a proof is synchronous and blocks the event loop. */
export const MAX_PROOF_TARGETS = 128;
/** Larger than every generalized index in a state or block. */
const MAX_GINDEX = 2n ** 256n - 1n;

const EXPECTED =
  'a path such as ["validators", 12, "withdrawal_credentials"], a generalized index from 1 on, or an array of these';

const STEP_FORM = {
  anyOf: [
    { type: "string", pattern: "^[a-z0-9_]+$" },
    { type: "integer", minimum: 0 },
  ],
};
const PATH_FORM = { type: "array", minItems: 1, items: STEP_FORM };

/** A path or a generalized index. */
export const SINGLE_TARGET_FORM = {
  anyOf: [PATH_FORM, { type: "integer", minimum: 1 }, { type: "string", pattern: "^[a-z0-9_]+(,[a-z0-9_]+)*$" }],
};
/** A list of paths, or of generalized indices. */
export const TARGET_LIST_FORM = {
  anyOf: [
    { type: "array", minItems: 1, items: PATH_FORM },
    { type: "array", minItems: 1, items: { type: "integer", minimum: 1 } },
  ],
};
const FORM = {
  anyOf: [
    {
      type: "array",
      minItems: 1,
      items: { anyOf: [...STEP_FORM.anyOf, PATH_FORM] },
    },
    { type: "integer", minimum: 1 },
    { type: "string", pattern: "^[a-z0-9_]+(,[a-z0-9_]+)*$" },
  ],
};

/** Parses a path, a generalized index, or a list of either. An array that starts with a field name is a path. */
export const proofPaths: ParamSchema<ProofRequest> = z
  .unknown()
  .meta(FORM)
  .transform((value, context) => {
    // In a REST query, paths are comma-separated.
    const parts = typeof value === "string" ? value.split(",") : value;
    if (!Array.isArray(parts)) {
      const gindex = gindexOf(parts);
      if (gindex !== undefined) return { targets: [gindex], isList: false };
      return addIssue(context, value, `must be ${EXPECTED}, but ${describeValue(value)} was given.`);
    }
    const path = pathOf(parts);
    if (path !== undefined) return { targets: [path], isList: false };
    if (isName(parts[0])) return addIssue(context, value, describeInvalidStep(parts));
    if (parts.length === 0 || parts.length > MAX_PROOF_TARGETS) {
      return addIssue(
        context,
        value,
        `must contain from 1 to ${MAX_PROOF_TARGETS} elements, but it contains ${parts.length}.`,
      );
    }
    const targets: ProofTarget[] = [];
    for (const [position, element] of parts.entries()) {
      const target = Array.isArray(element) ? pathOf(element) : gindexOf(element);
      if (target === undefined && Array.isArray(element) && isName(element[0])) {
        return addIssue(
          context,
          value,
          `has an invalid path at position ${position}: it ${describeInvalidStep(element)}`,
        );
      }
      if (target === undefined) {
        const what = `has an invalid element at position ${position}: ${describeValue(element)}.`;
        return addIssue(context, value, `${what} It must be ${EXPECTED}.`);
      }
      targets.push(target);
    }
    return { targets, isList: typeof value !== "string" || targets.length > 1 };
  });

function pathOf(elements: readonly unknown[]): SszPath | undefined {
  if (!isName(elements[0])) return undefined;
  return elements.every(isStep) ? (elements as SszPath) : undefined;
}

function isStep(element: unknown): boolean {
  return isName(element) || isIndex(element);
}

/** Describes the first element in a path that is invalid. */
function describeInvalidStep(path: readonly unknown[]): string {
  const position = path.findIndex((element) => !isStep(element));
  const step = describeValue(path[position]);
  return `has an invalid element at position ${position}: it must be a field name or an index from 0 on, but ${step} was given.`;
}

function isName(element: unknown): element is string {
  return typeof element === "string" && /^[a-z_]\w*$/i.test(element);
}

const isIndex = (element: unknown) => parseInteger(element, MAX_GINDEX) !== undefined;

function gindexOf(value: unknown): bigint | undefined {
  const integer = parseInteger(value, MAX_GINDEX);
  return integer === 0n ? undefined : integer;
}
