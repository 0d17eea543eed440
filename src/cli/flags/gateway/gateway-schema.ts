import { ACCESS_CLASSES } from "../../../server/access-class.ts";
import { FlagValueError, httpUrl, nonEmpty } from "../flag-values.ts";
import {
  list,
  map,
  matching,
  nonEmptyList,
  object,
  oneOf,
  type Read,
  secret,
  text,
  wholeNumber,
} from "./section-readers.ts";

/** Names are used in logs, headers and metric labels. */
const NAME = text(matching(/^[\w.:[\]-]{1,100}$/, "1 to 100 letters, digits and . : _ -"));
const TAG = text(matching(/^[\w.-]{1,50}$/, "1 to 50 letters, digits and . _ -"));
const FILE = text(nonEmpty("a file name"));
const pattern = matching(/^[\w.*]{1,200}$/, "a method name, in which * stands for any characters");

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

function headerName(written: string): string {
  const name = matching(/^[\w!#$%&'*+.^|~-]{1,100}$/, "a header name, such as X-Api-Key")(written).toLowerCase();
  if (!RESERVED_HEADERS.includes(name)) return name;
  const fix = name === "authorization" ? "use token-file for a bearer token" : "remove it";
  throw new FlagValueError(`is set by the gateway; ${fix}`);
}

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
    headers: map(headerName, HEADER_VALUE, "{ X-Team: staking }"),
    "header-files": map(headerName, FILE, "{ X-Api-Key: /etc/fanal/rented.key }"),
    tags: list(TAG, "[archive]"),
    budget: object(REQUEST_BUDGET, { example: "{ requests-per-second: 50 }" }),
  },
  { example: "{ url: http://127.0.0.1:5052 }", required: ["url"] },
);

const KEY_HASH = secret(/^[0-9a-f]{64}$/i, "the SHA-256 of the key in 64 hex digits, as printed by fanal gateway key");

const CLIENT = object(
  {
    name: NAME,
    "key-sha256": KEY_HASH,
    classes: nonEmptyList(oneOf(ACCESS_CLASSES), "[read]", "read and submit"),
    methods: nonEmptyList(text(pattern), "[getChainHead, get_v1_beacon_*]", "all methods"),
    budget: object(
      { ...REQUEST_BUDGET, "units-per-second": wholeNumber(1), "units-per-day": wholeNumber(1) },
      { example: "{ requests-per-second: 50, units-per-day: 5000000 }" },
    ),
  },
  { example: "{ name: wallet, key-sha256: … }", required: ["name"] },
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
  { example: "{ quorum: 2 }" },
);

/** Sections of a gateway's config file. All other keys are flags. */
export const GATEWAY_SECTIONS = {
  upstreams: list(UPSTREAM, "[{ url: http://127.0.0.1:5052 }]"),
  clients: nonEmptyList(CLIENT, "[{ name: wallet, key-sha256: … }]", "access without keys"),
  methods: map(pattern, POLICY, "{ getChainHead: { quorum: 2 } }"),
};

export type WrittenUpstream = Read<typeof UPSTREAM>;
export type WrittenClient = Read<typeof CLIENT>;
export type WrittenPolicy = Read<typeof POLICY>;
