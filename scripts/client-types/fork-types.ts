import {
  BooleanType,
  ByteListType,
  ByteVectorType,
  ContainerType,
  isBasicType,
  ListBasicType,
  ListCompositeType,
  ProgressiveByteListType,
  ProgressiveContainerType,
  ProgressiveListBasicType,
  ProgressiveListCompositeType,
  type Type,
  VectorBasicType,
  VectorCompositeType,
} from "@chainsafe/ssz";
import { type ForkName, isForkPostGloas } from "@lodestar/params";
import { sszTypesFor } from "@lodestar/types";
import type { JsonSchema } from "../../src/api/schemas.ts";
import { CONSENSUS_FORKS, type DevFork } from "../../src/dev/forks.ts";
import { described } from "./type-text.ts";

type SszType = Type<unknown>;
type Container = ContainerType<Record<string, SszType>> | ProgressiveContainerType<Record<string, SszType>>;

/** Types of the results of methods and events. Those inside them follow. */
const ROOTS = [
  "SignedAggregateAndProof",
  "SignedBeaconBlock",
  "SignedBlindedBeaconBlock",
  "BeaconState",
  "BlobSidecar",
  "DataColumnSidecar",
  "LightClientBootstrap",
  "LightClientUpdate",
  "LightClientFinalityUpdate",
  "LightClientOptimisticUpdate",
  "SignedBLSToExecutionChange",
  "SignedContributionAndProof",
  "SignedExecutionPayloadEnvelope",
  "PayloadAttestationMessage",
] as const;

/** Names of byte vectors by length. All are hex. */
const BYTE_VECTORS: Readonly<Record<number, string>> = { 4: "Version", 20: "Address", 32: "Root", 96: "Signature" };

/** A form of a container, the same in consecutive forks. */
interface Variant {
  readonly name: string;
  readonly forks: DevFork[];
  readonly key: string;
  readonly type: Container;
}

export interface ForkTypesText {
  readonly text: string;
  /** Names of the types that take a fork as a parameter. */
  readonly generic: ReadonlySet<string>;
  /** Names of all generated types. */
  readonly names: ReadonlySet<string>;
}

/** Named schemas of results. Types that are the same in all forks are left to them. */
type Schemas = Readonly<Record<string, JsonSchema>>;

/**
 * Generates the types of chain objects in all forks from the SSZ types. A type that differs between forks has one
 * interface per form, and takes the fork as a parameter.
 */
export function forkTypesText(schemas: Schemas): ForkTypesText {
  const variants = collectVariants(schemas);
  const isGeneric = (name: string) => variants.get(name)!.length > 1;
  const variantName = (name: string, fork: DevFork): string =>
    variants.get(name)?.find(({ forks }) => forks.includes(fork))?.name ?? name;
  const fieldTexts = ({ type, forks: [fork] }: Variant): Map<string, string> =>
    new Map(fieldsOf(type).map(([key, field]) => [key, fieldText(key, field, fork!, variantName)]));

  const interfaces: string[] = [];
  for (const forms of variants.values()) {
    for (const [position, form] of forms.entries()) {
      const own = fieldTexts(form);
      const before = forms[position - 1];
      const inherited = before === undefined ? undefined : fieldTexts(before);
      // A later fork usually adds members, or members of members.
      const isExtended = inherited !== undefined && extendsStructure(form.type, before!.type);
      const members = [...own].filter(([key, text]) => !isExtended || inherited.get(key) !== text);
      const comment = described(schemas[form.name] ?? {});
      const heading = `${comment}export interface ${form.name}${isExtended ? ` extends ${before!.name}` : ""}`;
      interfaces.push(`${heading} { ${members.map(([key, text]) => `${key}: ${text};`).join("\n")} }\n`);
    }
  }

  const generic = [...variants.keys()].filter(isGeneric);
  const rows = CONSENSUS_FORKS.map((fork) => {
    const members = generic.map((name) => {
      const form = variants.get(name)!.find(({ forks }) => forks.includes(fork));
      return `${name}: ${form?.name ?? fallbackName(name, fork, variantName)};`;
    });
    return `${fork}: { ${members.join("\n")} };`;
  });
  const text = [
    ...interfaces,
    `/** Types by fork. A fork without the type has \`never\`. */\nexport interface ForkTypes { ${rows.join("\n")} }\n`,
    ...generic.map((name) => `export type ${name}<F extends ForkName = ForkName> = ForkTypes[F]["${name}"];\n`),
  ].join("\n");
  const all = [...variants.values()].flat();
  return { text, generic: new Set(generic), names: new Set([...variants.keys(), ...all.map(({ name }) => name)]) };
}

/** Before bellatrix and since gloas, a blinded block is the block itself. */
function fallbackName(name: string, fork: DevFork, variantName: (name: string, fork: DevFork) => string): string {
  return /Blinded/.test(name) ? variantName(name.replace("Blinded", ""), fork) : "never";
}

function collectVariants(schemas: Schemas): Map<string, Variant[]> {
  const variants = new Map<string, Variant[]>();
  const visit = (type: SszType, fork: DevFork): void => {
    const element = elementOf(type);
    if (element) visit(element, fork);
    if (!isContainer(type)) return;
    const name = nameOf(type, fork);
    const forms = variants.get(name) ?? [];
    variants.set(name, forms);
    const last = forms.at(-1);
    if (last?.forks.includes(fork)) return;
    const key = structureOf(type);
    if (last?.key === key) last.forks.push(fork);
    else forms.push({ name: `${name}${capitalized(fork)}`, forks: [fork], key, type });
    for (const [, field] of fieldsOf(type)) visit(field, fork);
  };
  for (const fork of CONSENSUS_FORKS) {
    const types = typesOf(fork);
    for (const root of ROOTS) if (types[root] && !isInherited(root, fork)) visit(types[root], fork);
  }
  for (const [name, forms] of variants) {
    if (forms.length > 1) continue;
    if (schemas[name]) variants.delete(name);
    else variants.set(name, [{ ...forms[0]!, name }]);
  }
  return variants;
}

const typesOf = (fork: DevFork) => sszTypesFor(fork as ForkName) as unknown as Record<string, SszType | undefined>;

/** Returns the name in the specification. Some types have no name or another one. */
function nameOf(type: SszType, fork: DevFork): string {
  const [name] = Object.entries(typesOf(fork)).find(([, each]) => each === type) ?? [type.typeName];
  return name.replace(/Bigint$/, "");
}

/** True for blinded blocks of gloas, which the library keeps from electra. */
const isInherited = (root: string, fork: DevFork): boolean => /Blinded/.test(root) && isForkPostGloas(fork as ForkName);

function isContainer(type: SszType): type is Container {
  return type instanceof ContainerType || type instanceof ProgressiveContainerType;
}

function fieldsOf(type: Container): [key: string, type: SszType][] {
  return type.fieldsEntries.map(({ jsonKey, fieldType }) => [jsonKey, fieldType]);
}

function elementOf(type: SszType): SszType | undefined {
  const isList =
    type instanceof ListCompositeType ||
    type instanceof VectorCompositeType ||
    type instanceof ProgressiveListBasicType ||
    type instanceof ProgressiveListCompositeType ||
    type instanceof ListBasicType ||
    type instanceof VectorBasicType;
  return isList ? (type.elementType as SszType) : undefined;
}

/** Describes the JSON of a type with all its members, without limits on lengths. */
function structureOf(type: SszType): string {
  const element = elementOf(type);
  if (element) return `[${structureOf(element)}]`;
  if (!isContainer(type)) return scalarText("", type);
  const members = fieldsOf(type).map(([key, field]) => `${key}:${structureOf(field)}`);
  return `{${members.join()}}`;
}

/** True if the JSON of the later type has all members of that of the earlier one. */
function extendsStructure(later: SszType, earlier: SszType): boolean {
  const elements = [elementOf(later), elementOf(earlier)] as const;
  if (elements[0] && elements[1]) return extendsStructure(elements[0], elements[1]);
  if (!isContainer(later) || !isContainer(earlier)) return structureOf(later) === structureOf(earlier);
  const members = new Map(fieldsOf(later));
  return fieldsOf(earlier).every(([key, field]) => members.has(key) && extendsStructure(members.get(key)!, field));
}

function fieldText(
  key: string,
  type: SszType,
  fork: DevFork,
  variantName: (name: string, fork: DevFork) => string,
): string {
  const element = elementOf(type);
  if (element) return `Array<${fieldText(key, element, fork, variantName)}>`;
  if (isContainer(type)) return variantName(nameOf(type, fork), fork);
  return scalarText(key, type);
}

function scalarText(key: string, type: SszType): string {
  if (type instanceof BooleanType) return "boolean";
  if (isBasicType(type)) return "Uint64";
  if (type instanceof ByteListType || type instanceof ProgressiveByteListType) return "Bytes";
  if (!(type instanceof ByteVectorType)) return "Bits";
  if (type.lengthBytes === 48) return key.includes("pubkey") ? "Pubkey" : "Bytes";
  return BYTE_VECTORS[type.lengthBytes] ?? "Bytes";
}

const capitalized = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;
