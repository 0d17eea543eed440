import { z } from "zod";
import type { SszPath } from "../proofs/ssz-place.ts";
import { parseInteger } from "./scalars.ts";
import { describeGiven, type ParamSchema, refuse } from "./schema.ts";

/** What is to be proven: a path to it, or its generalized index. */
export type ProofTarget = SszPath | bigint;

export interface ProofQuestion {
  readonly targets: readonly ProofTarget[];
  /** Whether a list was asked for, be it of one target. */
  readonly isList: boolean;
}

/** The most that one proof may hold: it is made in one go, while everybody else waits. */
export const MAX_TARGETS = 128;
/** No tree is as deep. */
const MAX_GINDEX = 2n ** 256n - 1n;

const RIGHT_FORM =
  'a path such as ["validators", 12, "withdrawal_credentials"], a generalized index from 1 on, or an array of these, where ' +
  "each path is an array of its own";

const STEP_FORM = {
  anyOf: [
    { type: "string", pattern: "^[a-z0-9_]+$" },
    { type: "integer", minimum: 0 },
  ],
};
const FORM = {
  anyOf: [
    {
      type: "array",
      minItems: 1,
      items: { anyOf: [...STEP_FORM.anyOf, { type: "array", minItems: 1, items: STEP_FORM }] },
    },
    { type: "integer", minimum: 1 },
    { type: "string", pattern: "^[a-z0-9_]+(,[a-z0-9_]+)*$" },
  ],
};

/** A path begins with the name of a field, so that an array that does so is one, and any other is a list. */
export const proofPaths: ParamSchema<ProofQuestion> = z
  .unknown()
  .meta(FORM)
  .transform((value, context) => {
    // In a query, the elements of a path are separated by commas.
    const given = typeof value === "string" ? value.split(",") : value;
    if (!Array.isArray(given)) {
      const gindex = gindexOf(given);
      if (gindex !== undefined) return { targets: [gindex], isList: false };
      return refuse(context, value, `must be ${RIGHT_FORM}, but ${describeGiven(value)} was given.`);
    }
    const path = pathOf(given);
    if (path !== undefined) return { targets: [path], isList: false };
    if (isName(given[0])) return refuse(context, value, wrongStepOf(given));
    if (given.length === 0 || given.length > MAX_TARGETS) {
      return refuse(context, value, `must hold from 1 to ${MAX_TARGETS} elements, but it holds ${given.length}.`);
    }
    const targets: ProofTarget[] = [];
    for (const [position, element] of given.entries()) {
      const target = Array.isArray(element) ? pathOf(element) : gindexOf(element);
      if (target === undefined && Array.isArray(element) && isName(element[0])) {
        return refuse(context, value, `has a wrong path at position ${position}: it ${wrongStepOf(element)}`);
      }
      if (target === undefined) {
        const what = `has a wrong element at position ${position}: ${describeGiven(element)}.`;
        return refuse(context, value, `${what} It must be ${RIGHT_FORM}.`);
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

/** Of a path that begins as one. */
function wrongStepOf(path: readonly unknown[]): string {
  const position = path.findIndex((element) => !isStep(element));
  const given = describeGiven(path[position]);
  return `has a wrong element at position ${position}: it must be the name of a field or an index from 0 on, but ${given} was given.`;
}

function isName(element: unknown): element is string {
  return typeof element === "string" && /^[a-z_]\w*$/i.test(element);
}

const isIndex = (element: unknown) => parseInteger(element, MAX_GINDEX) !== undefined;

function gindexOf(value: unknown): bigint | undefined {
  const integer = parseInteger(value, MAX_GINDEX);
  return integer === 0n ? undefined : integer;
}
