// Members of a block body that forks have added. Their shapes are those of the SSZ types.

import {
  BitListType,
  BitVectorType,
  BooleanType,
  ByteListType,
  ByteVectorType,
  UintBigintType,
  UintNumberType,
} from "@chainsafe/ssz";
import { ssz } from "@lodestar/types";
import { KNOWN_FORKS } from "../network/spec-constants.ts";
import { anyBoolean, anyButNull, arrayOf, type Check, type Member, objectOf } from "./json-scan.ts";
import { anyHexString, decimalString, hexString, longDecimalString } from "./string-checks.ts";

const FULL_PAYLOAD = "execution_payload";
const BLINDED_PAYLOAD = "execution_payload_header";
const FORKS: readonly string[] = [...KNOWN_FORKS];
/** The body of this fork may still change. Of the members that it adds, only the bid is required. */
const GLOAS = "gloas";
const GLOAS_MEMBERS = ["sync_aggregate", "signed_execution_payload_bid"];

/** The form of a block. `either` is for produced blocks, whose form is a choice of the node. */
export type BlockForm = "full" | "blinded" | "either";

interface SszContainer {
  readonly fieldsEntries: readonly { readonly jsonKey: string; readonly fieldType: object }[];
}

type FieldTypes = ReadonlyMap<string, object>;

const fieldsOf = ({ fieldsEntries }: SszContainer): FieldTypes =>
  new Map(fieldsEntries.map(({ jsonKey, fieldType }) => [jsonKey, fieldType]));

const { phase0, altair, bellatrix, capella, deneb, electra, fulu } = ssz;
const COMMON = fieldsOf(phase0.BeaconBlockBody);
const FULL_BODIES: ReadonlyMap<string, SszContainer> = new Map<string, SszContainer>(
  Object.entries({ phase0, altair, bellatrix, capella, deneb, electra, fulu }).map(([fork, types]) => [
    fork,
    types.BeaconBlockBody,
  ]),
);
const BLINDED_BODIES: ReadonlyMap<string, SszContainer> = new Map<string, SszContainer>([
  ...FULL_BODIES,
  ...Object.entries({ bellatrix, capella, deneb, electra, fulu }).map(
    ([fork, types]) => [fork, types.BlindedBeaconBlockBody] as const,
  ),
]);

/** Returns a check of a block body that requires these members, and records members of later forks. */
export function blockBody(members: readonly Member[]): Check {
  const bodies = [...FULL_BODIES.values(), ...BLINDED_BODIES.values()].map(fieldsOf);
  const later = new Map<string, Check>([["signed_execution_payload_bid", anyButNull]]);
  for (const [name, type] of bodies.flatMap((fields) => [...fields])) {
    if (!COMMON.has(name)) later.set(name, isPayload(name) ? payload(name, bodies) : compileType(type));
  }
  const optional = [...later].map(([name, check]) => ({ name, check: recording(name, check), isRequired: false }));
  const check = objectOf([...members, ...optional]);
  return (scan, at) => {
    scan.forkMembers = [];
    const end = check(scan, at);
    if (end > 0) scan.bodyMembers = scan.forkMembers;
    return end;
  };
}

const isPayload = (name: string): boolean => name === FULL_PAYLOAD || name === BLINDED_PAYLOAD;

/** Returns a check of a payload or its header. Members that only some forks have are optional and recorded. */
function payload(name: string, bodies: readonly FieldTypes[]): Check {
  const versions = bodies.flatMap((fields) => {
    const type = fields.get(name) as SszContainer | undefined;
    return type ? [fieldsOf(type)] : [];
  });
  const members = new Map(versions.flatMap((fields) => [...fields]));
  return objectOf(
    [...members].map(([member, type]) => {
      const isRequired = versions.every((fields) => fields.has(member));
      const check = compileType(type);
      return { name: member, check: isRequired ? check : recording(`${name}.${member}`, check), isRequired };
    }),
  );
}

function recording(name: string, check: Check): Check {
  return (scan, at) => {
    const end = check(scan, at);
    if (end > 0) scan.forkMembers.push(name);
    return end;
  };
}

/** Compiles an SSZ type to a check of its JSON. */
function compileType(type: object): Check {
  if (type instanceof UintNumberType) return decimalString;
  if (type instanceof UintBigintType) return type.byteLength > 8 ? longDecimalString : decimalString;
  if (type instanceof BooleanType) return anyBoolean;
  if (type instanceof ByteVectorType) return hexString(type.lengthBytes);
  if (type instanceof BitVectorType) return hexString(Math.ceil(type.lengthBits / 8));
  if (type instanceof ByteListType || type instanceof BitListType) return anyHexString;
  if ("fieldsEntries" in type) {
    const { fieldsEntries } = type as SszContainer;
    return objectOf(
      fieldsEntries.map(({ jsonKey, fieldType }) => {
        return { name: jsonKey, check: compileType(fieldType), isRequired: true };
      }),
    );
  }
  return "elementType" in type ? arrayOf(compileType(type.elementType as object)) : anyButNull;
}

const requiredMembers = new Map<string, readonly string[]>();

/** Returns the block members of a fork that phase0 does not have. */
function requiredOf(fork: string, form: BlockForm): readonly string[] {
  if (fork === GLOAS) return GLOAS_MEMBERS;
  const key = `${fork} ${form}`;
  let required = requiredMembers.get(key);
  if (required === undefined) {
    const bodies = form === "blinded" ? BLINDED_BODIES : FULL_BODIES;
    const name = form === "blinded" ? BLINDED_PAYLOAD : FULL_PAYLOAD;
    const first = payloadOf(bodies.get("bellatrix")!, name);
    const body = bodies.get(fork)!;
    const added = [...payloadOf(body, name).keys()].filter((member) => !first.has(member));
    required = [
      ...[...fieldsOf(body).keys()].filter((member) => !COMMON.has(member)),
      ...added.map((member) => `${name}.${member}`),
    ];
    requiredMembers.set(key, required);
  }
  return required;
}

function payloadOf(body: SszContainer, name: string): FieldTypes {
  const type = fieldsOf(body).get(name);
  return type ? fieldsOf(type as SszContainer) : new Map();
}

interface BlockFork {
  /** The fork that the answer names. Lowercase. */
  readonly stated: string | undefined;
  /** The fork that is scheduled for its slot, if settled. */
  readonly scheduled: string | undefined;
}

/**
 * Returns why the members of a block body do not match its fork and form, as a clause, or undefined. Forks up to fulu
 * only add members, so the members of the earlier of the two forks are always required.
 */
export function findMemberViolation(
  members: readonly string[],
  form: BlockForm,
  { stated, scheduled }: BlockFork,
): string | undefined {
  const known = stated !== undefined && KNOWN_FORKS.has(stated) ? stated : undefined;
  const fork = known === undefined || scheduled === undefined ? (known ?? scheduled) : earlierOf(known, scheduled);
  if (stated !== undefined && known === undefined && (scheduled === undefined || scheduled === GLOAS)) return undefined;
  const other = form === "full" ? BLINDED_PAYLOAD : FULL_PAYLOAD;
  if (form !== "either" && members.includes(other)) return `the body of a ${form} block has the member "${other}"`;
  if (fork === undefined) return undefined;
  const actualForm = form === "either" && members.includes(BLINDED_PAYLOAD) ? "blinded" : form;
  const missing = requiredOf(fork, actualForm).find((member) => !members.includes(member));
  return missing && `the body of a block of ${fork} has no member "${missing}"`;
}

const earlierOf = (stated: string, scheduled: string): string =>
  stated !== GLOAS && FORKS.indexOf(stated) > FORKS.indexOf(scheduled) ? scheduled : stated;
