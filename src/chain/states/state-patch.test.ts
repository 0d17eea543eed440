import {
  BasicType,
  BitArray,
  BitListType,
  BitVectorType,
  BooleanType,
  ByteListType,
  ByteVectorType,
  ContainerType,
  ListBasicType,
  ListCompositeType,
  ProgressiveContainerType,
  ProgressiveListBasicType,
  ProgressiveListCompositeType,
  type Type,
  UintBigintType,
  VectorBasicType,
  VectorCompositeType,
} from "@chainsafe/ssz";
import type { BeaconStateAllForks } from "@lodestar/state-transition";
import { ssz } from "@lodestar/types";
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../test/support/random/seeded-random.ts";
import { variants } from "../../../test/support/suite/tier.ts";
import { applyCompressedPatch, compressPatch } from "../../db/repositories/snapshot-compression.ts";
import { CONSENSUS_FORKS, type DevFork } from "../../dev/forks.ts";
import { type PatchBase, patchBaseOf, statePatch } from "./state-patch.ts";

const random = seededRandom(1515);
const upTo = (limit: number) => Math.floor(random() * limit);
const noise = (length: number) => Uint8Array.from({ length }, () => upTo(256));
/** Registry size that fills more than one group. */
const REGISTRY_LENGTH = 1500;

function randomValue(type: Type<unknown>): unknown {
  if (type instanceof BooleanType) return random() < 0.5;
  if (type instanceof UintBigintType) return BigInt(upTo(2 ** 32)) ** 2n;
  if (type instanceof BasicType)
    return type.byteLength === 1 ? upTo(256) : upTo(2 ** 32) * (random() < 0.5 ? 1 : 2 ** 20);
  if (type instanceof ByteVectorType) return noise(type.lengthBytes);
  if (type instanceof ByteListType) return noise(upTo(20));
  if (type instanceof BitVectorType)
    return BitArray.fromBoolArray(Array.from({ length: type.lengthBits }, () => random() < 0.5));
  if (type instanceof BitListType)
    return BitArray.fromBoolArray(Array.from({ length: upTo(20) }, () => random() < 0.5));
  if (type instanceof VectorBasicType || type instanceof VectorCompositeType) return randomValues(type, type.length);
  if (isList(type)) return randomValues(type, upTo(8));
  if (type instanceof ContainerType || type instanceof ProgressiveContainerType) {
    const fields: Record<string, Type<unknown>> = type.fields;
    return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, randomValue(field)]));
  }
  throw new Error(`A state has a field of the type ${type.typeName}, which is none of the known ones.`);
}

const isList = (type: Type<unknown>): type is ListBasicType<BasicType<unknown>> =>
  [ListBasicType, ListCompositeType, ProgressiveListBasicType, ProgressiveListCompositeType].some(
    (listType) => type instanceof listType,
  );

const randomValues = ({ elementType }: { elementType: Type<unknown> }, length: number) =>
  Array.from({ length }, () => randomValue(elementType));

const REGISTRY_FIELDS = /^(validators|balances|inactivityScores|.*Participation)$/;

type Value = Record<string, unknown>;

function randomState(type: ContainerType<Record<string, Type<unknown>>>): Value {
  const value = randomValue(type) as Value;
  for (const [name, field] of Object.entries(type.fields)) {
    const { elementType } = field as unknown as { elementType: Type<unknown> };
    if (REGISTRY_FIELDS.test(name)) value[name] = randomValues({ elementType }, REGISTRY_LENGTH + upTo(50));
  }
  return value;
}

/** The state some time later. Some fields are unchanged, and lists have changed, appended and removed elements. */
function laterState(type: ContainerType<Record<string, Type<unknown>>>, value: Value): Value {
  const later = { ...value };
  for (const [name, field] of Object.entries(type.fields)) {
    if (random() < 0.3) continue;
    if (!Array.isArray(value[name])) {
      later[name] = randomValue(field);
      continue;
    }
    const { elementType } = field as unknown as { elementType: Type<unknown> };
    const elements = value[name].slice(isList(field) && random() < 0.3 ? upTo(6) : 0);
    for (let n = upTo(10); n > 0 && elements.length > 0; n--)
      elements[upTo(elements.length)] = randomValue(elementType);
    if (isList(field)) elements.push(...randomValues({ elementType }, upTo(5)));
    if (isList(field) && random() < 0.1) elements.length = 0;
    later[name] = elements;
  }
  return later;
}

async function restored(state: BeaconStateAllForks, base?: { bytes: Uint8Array; patchBase: PatchBase }) {
  const { size, pieces } = statePatch(state, base?.patchBase);
  return applyCompressedPatch(compressPatch(pieces), base?.bytes ?? new Uint8Array(), size);
}

/** Compared as a whole, because there are too many elements to compare individually. */
function expectSame(bytes: Uint8Array, expected: Uint8Array): void {
  expect(Buffer.compare(bytes, expected)).toBe(0);
}

const FORKS = variants<DevFork>({ fast: ["phase0", "fulu", "gloas"], full: CONSENSUS_FORKS });

describe.each(FORKS)("on %s", (fork) => {
  const type = ssz[fork].BeaconState as unknown as ContainerType<Record<string, Type<unknown>>>;
  const viewOf = (value: Value) => type.toViewDU(value as never) as unknown as BeaconStateAllForks;

  it("a state round-trips through its patch, with and without a base", async () => {
    let value = randomState(type);
    const first = viewOf(value);
    const bytes = first.serialize();
    expectSame(await restored(first), bytes);
    const base = { bytes, patchBase: await patchBaseOf(first) };
    for (let step = 0; step < 6; step++) {
      value = laterState(type, value);
      const later = viewOf(value);
      expectSame(await restored(later, base), later.serialize());
    }
    const other = viewOf(randomState(type));
    expectSame(await restored(other, base), other.serialize());
    expectSame(await restored(first, base), bytes);
  });
});

it("a patch contains only differences, not shifted elements", async () => {
  const type = ssz.fulu.BeaconState as unknown as ContainerType<Record<string, Type<unknown>>>;
  const value = randomState(type);
  value.pendingDeposits = randomValues({ elementType: ssz.electra.PendingDeposit }, 50);
  const first = type.toViewDU(value as never) as unknown as BeaconStateAllForks;
  const patchBase = await patchBaseOf(first);
  const later = first.clone();
  later.slot += 1;
  later.validators.get(7).effectiveBalance += 1;
  const moved = ssz.fulu.BeaconState.toViewDU({
    ...ssz.fulu.BeaconState.toValueFromViewDU(later as never),
    pendingDeposits: (value.pendingDeposits as never[]).slice(3),
  }) as unknown as BeaconStateAllForks;
  for (const [state, atMost] of [
    [first, 8],
    [later, 8 + 200],
    [moved, 8 + 200 + 50],
  ] as const) {
    let length = 0;
    for await (const piece of statePatch(state, patchBase).pieces) length += piece.length;
    expect(length).toBeLessThanOrEqual(atMost);
  }
});

it("rejects a base of another fork", async () => {
  const patchBase = await patchBaseOf(ssz.electra.BeaconState.defaultViewDU() as unknown as BeaconStateAllForks);
  const state = ssz.fulu.BeaconState.defaultViewDU() as unknown as BeaconStateAllForks;
  expect(() => statePatch(state, patchBase)).toThrow("must be of the same fork");
});
