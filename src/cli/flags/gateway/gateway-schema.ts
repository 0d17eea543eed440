import { z } from "zod";
import { ACCESS_CLASSES } from "../../../server/access-class.ts";
import { describeValue, isShownKey, nearestSetting, shownText, valueProblem } from "../describe-value.ts";
import { nearestFlag } from "../did-you-mean.ts";
import { FlagValueError, httpUrl, nonEmpty, wholeNumber as wholeNumberFlag, wholeNumberRange } from "../flag-values.ts";

/** Parameters of an issue with a key. */
export interface KeyProblem {
  /** True if the key may be a secret, in which case the issue is reported for the map. */
  readonly isHidden?: boolean;
  /** The setting that was probably meant by the key, unless that setting is present as well. */
  readonly meant?: string | undefined;
}

const expected =
  (what: string) =>
  ({ input }: { input?: unknown }) =>
    `must be ${what}, got ${describeValue(input)}`;

/** Parses text the way a flag does. */
const parsedBy =
  <T>(parse: (text: string) => T) =>
  (value: string | number, context: z.RefinementCtx): T => {
    try {
      return parse(String(value));
    } catch (error) {
      if (!(error instanceof FlagValueError)) throw error;
      context.addIssue(valueProblem(error.message, String(value)));
      return z.NEVER;
    }
  };

const text = <T>(parse: (text: string) => T) => z.string({ error: expected("a text") }).transform(parsedBy(parse));

const matching = (pattern: RegExp, what: string) =>
  text((value) => {
    if (pattern.test(value)) return value;
    throw new FlagValueError(`it must be ${what}`);
  });

/** Schema for a secret, whose issues never show the text. */
const secret = (pattern: RegExp, what: string) =>
  z.custom<string>((value) => typeof value === "string" && pattern.test(value), `must be ${what}`);

/** Accepts strings and numbers: YAML scalars arrive as strings, TOML numbers as numbers. */
const wholeNumber = (min: number, max?: number, unit?: string) =>
  z
    .union([z.string(), z.number()], { error: expected(wholeNumberRange(min, max, unit)) })
    .transform(parsedBy(wholeNumberFlag(min, max, unit)));

/** Schema for a list. Invalid items that were removed are undefined. */
const list = <Item extends z.ZodType>(item: Item, example: string) =>
  z.array(item.optional(), { error: expected(`a list, as in ${example}`) });

/** `effect` describes what happens if the list is omitted. */
const nonEmptyList = <Item extends z.ZodType>(item: Item, example: string, effect: string) =>
  list(item, example).refine(
    (items) => items.length > 0,
    `must not be empty; remove it for ${effect}, or write ${example}`,
  );

/** A map whose keys are checked before its values are read. */
const mapOf = (example: string, check: (entry: [string, unknown], problem: AddKeyProblem, map: object) => void) =>
  z.record(z.string(), z.unknown(), { error: expected(`a map, as in ${example}`) }).superRefine((record, context) => {
    for (const entry of Object.entries(record)) {
      const add: AddKeyProblem = (message, params = {}) =>
        context.addIssue({ code: "custom", path: [entry[0]], message, params: { ...params } });
      check(entry, add, record);
    }
  });

type AddKeyProblem = (message: string, params?: KeyProblem) => void;

/** A map with arbitrary keys. */
const map = <Value extends z.ZodType>(pattern: RegExp, keyName: string, value: Value, example: string) =>
  mapOf(example, ([key, setting], addProblem) => {
    // If the space after the colon is missing, the value becomes part of the key.
    const hint = `write ${example}, with a space after the colon`;
    if (!pattern.test(key)) addProblem(`has a name that is not ${keyName}; ${hint}`, { isHidden: true });
    else if (setting === "" || setting === null) addProblem(`has a name without a value; ${hint}`, { isHidden: true });
  }).pipe(z.record(z.string(), value));

/** A map with known keys, all of which are optional. */
const object = <Shape extends z.ZodRawShape>(shape: Shape, example: string) =>
  mapOf(example, ([key], addProblem, siblings) => {
    if (Object.hasOwn(shape, key)) return;
    const knownKeys = Object.keys(shape);
    const nearest = nearestSetting(key, knownKeys);
    const meant = nearest !== undefined && Object.hasOwn(siblings, nearest) ? undefined : nearest;
    const hint = nearest === undefined ? `known are ${knownKeys.join(", ")}` : `did you mean ${nearest}?`;
    if (isShownKey(key, nearest)) addProblem(`is unknown; ${hint}`, { meant });
    else {
      const problem = `has a key that is not a setting; write ${example}, with a space after the colon`;
      addProblem(problem, { isHidden: true, meant });
    }
  }).pipe(z.object(shape).partial());

/** Names appear in logs, headers and metric labels. */
const NAME = matching(/^[\w.:[\]-]{1,100}$/, "1 to 100 letters, digits and . : _ -");
const TAG = matching(/^[\w.-]{1,50}$/, "1 to 50 letters, digits and . _ -");
const FILE = text(nonEmpty("a file name"));
const PATTERN = /^[\w.*]{1,200}$/;
const PATTERN_NAME = "a method name, in which * stands for any characters";

/** Headers set by the gateway or its HTTP client, and HTTP connection headers, which would break every request. */
const RESERVED_HEADERS =
  "accept accept-encoding authorization connection content-encoding content-length content-type expect host " +
  "keep-alive proxy-connection te trailer transfer-encoding upgrade";

/** Headers by lowercase name. */
const headers = (value: z.ZodType<string>, example: string) =>
  map(/^[\w!#$%&'*+.^|~-]{1,100}$/, "a header name, such as X-Api-Key", value, example)
    .superRefine((written, context) => {
      const names = new Set<string>();
      for (const key of Object.keys(written)) {
        const name = key.toLowerCase();
        const fix = name === "authorization" ? "use token-file for a bearer token" : "remove it";
        const problem = RESERVED_HEADERS.split(" ").includes(name)
          ? `is set by the gateway; ${fix}`
          : names.has(name) && "is given twice, in upper and lower case; remove one";
        if (problem) context.addIssue({ code: "custom", path: [key], message: problem });
        names.add(name);
      }
    })
    .transform((written) =>
      Object.fromEntries(Object.entries(written).map(([key, header]) => [key.toLowerCase(), header])),
    );

const HEADER_VALUE = secret(/^[\x20-\x7e]{1,8000}$/, "text of 1 to 8000 printable ASCII characters");

const REQUEST_BUDGET = {
  "requests-per-second": wholeNumber(1),
  "requests-per-day": wholeNumber(1),
};

const UPSTREAM = object(
  {
    url: text(httpUrl),
    name: NAME,
    tier: wholeNumber(0, 1000),
    weight: wholeNumber(1, 1000),
    "token-file": FILE,
    headers: headers(HEADER_VALUE, "{ X-Team: staking }"),
    "header-files": headers(FILE, "{ X-Api-Key: /etc/fanal/rented.key }"),
    tags: list(TAG, "[archive]"),
    budget: object(REQUEST_BUDGET, "{ requests-per-second: 50 }"),
  },
  "{ url: http://127.0.0.1:5052 }",
);

const KEY_HASH = secret(/^[0-9a-f]{64}$/i, "the SHA-256 of the key in 64 hex digits, as printed by fanal gateway key");

const ACCESS_CLASS = z.enum(ACCESS_CLASSES, {
  error: ({ input }) => {
    const nearest = typeof input === "string" ? nearestFlag(input, ACCESS_CLASSES) : undefined;
    const got = typeof input === "string" && input !== "" ? shownText(input) : describeValue(input);
    const choices = `${ACCESS_CLASSES.slice(0, -1).join(", ")} or ${ACCESS_CLASSES.at(-1)}`;
    return `must be ${choices}, got ${got}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`;
  },
});

const CLIENT = object(
  {
    name: NAME,
    "key-sha256": KEY_HASH,
    classes: nonEmptyList(ACCESS_CLASS, "[read]", "read and submit"),
    methods: nonEmptyList(matching(PATTERN, PATTERN_NAME), "[getChainHead, get_v1_beacon_*]", "all methods"),
    budget: object(
      { ...REQUEST_BUDGET, "units-per-second": wholeNumber(1), "units-per-day": wholeNumber(1) },
      "{ requests-per-second: 50, units-per-day: 5000000 }",
    ),
  },
  "{ name: wallet, key-sha256: … }",
);

const POLICY = object(
  {
    "timeout-seconds": wholeNumber(1, 3600, "seconds"),
    "hedge-after": wholeNumber(1, 60_000, "milliseconds"),
    quorum: wholeNumber(1, 1000),
    "cache-seconds": wholeNumber(0, 315_360_000, "seconds"),
    tags: nonEmptyList(TAG, "[archive]", "all upstreams"),
    units: wholeNumber(0, 1_000_000),
  },
  "{ quorum: 2 }",
);

/** Sections of a gateway's config file. All other keys correspond to flags. */
export const GATEWAY_SECTIONS = {
  upstreams: list(UPSTREAM, "[{ url: http://127.0.0.1:5052 }]"),
  clients: nonEmptyList(CLIENT, "[{ name: wallet, key-sha256: … }]", "access without keys"),
  methods: map(PATTERN, PATTERN_NAME, POLICY, "{ getChainHead: { quorum: 2 } }"),
};

export type WrittenUpstream = z.output<typeof UPSTREAM>;
export type WrittenClient = z.output<typeof CLIENT>;
export type WrittenPolicy = z.output<typeof POLICY>;
