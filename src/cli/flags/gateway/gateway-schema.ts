import { z } from "zod";
import { ACCESS_CLASSES } from "../../../server/access-class.ts";
import type { GATEWAY_SECTION_NAMES } from "./section-names.ts";

/** Names are used in logs, headers and metric labels. */
const NAME = z.string().regex(/^[\w.:[\]-]{1,100}$/, "must have 1 to 100 letters, digits and . : _ -");
const TAG = z.string().regex(/^[\w.-]{1,50}$/, "must have 1 to 50 letters, digits and . _ -");
const FILE = z.string().min(1, "must be a file name");
const PATTERN = z.string().regex(/^[\w.*]{1,200}$/, "must be a method name, in which * stands for any characters");

/** YAML scalars arrive as strings, TOML numbers as numbers. */
function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  const error = `must be a whole number ${range}`;
  return z.preprocess(
    (value) => (typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value),
    z.number({ error }).int(error).min(least, error).max(most, error),
  );
}

const HEADER_NAME = /^[\w!#$%&'*+.^|~-]{1,100}$/;
/** Headers that the gateway or its HTTP client sets itself. Others of HTTP connections would break every request. */
const RESERVED_HEADERS = [
  "accept",
  "accept-encoding",
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** Header names and values, or files with the values. */
function headers(value: z.ZodType<string>) {
  const name = z
    .string()
    .regex(HEADER_NAME, "must be a header name")
    .toLowerCase()
    .refine((text) => !RESERVED_HEADERS.includes(text), "is set by the gateway; for Authorization use token-file");
  return z.record(name, value);
}

const HEADER_VALUE = z.string().regex(/^[\x20-\x7e]{1,8000}$/, "must be printable ASCII");

const REQUEST_BUDGET = {
  "requests-per-second": wholeNumber(1).optional(),
  "requests-per-day": wholeNumber(1).optional(),
};

const UPSTREAM = z.strictObject({
  url: z.string(),
  name: NAME.optional(),
  tier: wholeNumber(0, 1000).optional(),
  weight: wholeNumber(1, 1000).optional(),
  "token-file": FILE.optional(),
  headers: headers(HEADER_VALUE).optional(),
  "header-files": headers(FILE).optional(),
  tags: z.array(TAG).optional(),
  budget: z.strictObject(REQUEST_BUDGET).optional(),
});

const CLIENT = z.strictObject({
  name: NAME,
  "key-sha256": z
    .string()
    .regex(/^[0-9a-f]{64}$/i, "must be the SHA-256 of the key in 64 hex digits, as printed by fanal gateway key")
    .toLowerCase()
    .optional(),
  classes: z.array(z.enum(ACCESS_CLASSES)).min(1).optional(),
  methods: z.array(PATTERN).min(1).optional(),
  budget: z
    .strictObject({
      ...REQUEST_BUDGET,
      "units-per-second": wholeNumber(1).optional(),
      "units-per-day": wholeNumber(1).optional(),
    })
    .optional(),
});

const POLICY = z.strictObject({
  "timeout-seconds": wholeNumber(1, 3600).optional(),
  "hedge-after": wholeNumber(1, 60_000).optional(),
  quorum: wholeNumber(1, 1000).optional(),
  "cache-seconds": wholeNumber(0, 315_360_000).optional(),
  tags: z.array(TAG).min(1).optional(),
  units: wholeNumber(0, 1_000_000).optional(),
});

/** Sections of a gateway's config file. All other keys are flags. */
export const GATEWAY_SECTIONS = z.object({
  upstreams: z.array(UPSTREAM).optional(),
  clients: z.array(CLIENT).optional(),
  methods: z.record(PATTERN, POLICY).optional(),
} satisfies Record<(typeof GATEWAY_SECTION_NAMES)[number], z.ZodType>);

export type GatewaySections = z.infer<typeof GATEWAY_SECTIONS>;

/** Describes every problem of the sections with its path, such as `clients[0].budget.units-per-day`. */
export function sectionProblems({ issues }: z.ZodError): string[] {
  return issues.map((issue) => {
    const path = issue.path.reduce<string>(
      (text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}${text === "" ? "" : "."}${String(key)}`),
      "",
    );
    return `${path}: ${reasonOf(issue)}`;
  });
}

function reasonOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") return `unknown key ${issue.keys.map((key) => `"${key}"`).join(", ")}`;
  // The name of a key is wrong, not its value.
  if (issue.code === "invalid_key") return `the key ${issue.issues[0]?.message ?? "is invalid"}`;
  return issue.message.replace(/^Invalid (?:input|option): /, "").replace(/\.$/, "");
}
