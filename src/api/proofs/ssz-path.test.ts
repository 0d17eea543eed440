import {
  BitArray,
  BitListType,
  BitVectorType,
  BooleanType,
  ByteListType,
  ByteVectorType,
  type CompositeTypeAny,
  ContainerNodeStructType,
  ContainerType,
  ListBasicType,
  ListCompositeType,
  UintNumberType,
  VectorBasicType,
  VectorCompositeType,
} from "@chainsafe/ssz";
import { expect, it } from "vitest";
import { readSmallValue, resolveGindex, resolvePath, type SszObject, type SszPath } from "./ssz-path.ts";

const uint64 = new UintNumberType(8);
const bytes32 = new ByteVectorType(32);
const Member = new ContainerNodeStructType(
  { publicKey: new ByteVectorType(48), isSlashed: new BooleanType() },
  { jsonCase: "eth2" },
);
const fields = {
  someNumber: uint64,
  members: new ListCompositeType(Member, 2 ** 40),
  balances: new ListBasicType(uint64, 2 ** 40),
  empties: new ListBasicType(uint64, 4),
  weights: new VectorBasicType(new UintNumberType(2), 20),
  roots: new VectorCompositeType(bytes32, 3),
  flags: new BitVectorType(4),
  votes: new BitListType(2048),
  note: new ByteListType(100),
};
const Old = new ContainerType(fields, { jsonCase: "eth2" });
const New = new ContainerType({ ...fields, queue: new ListCompositeType(Old, 4) }, { jsonCase: "eth2" });
const Oldest = new ContainerType({ someNumber: uint64, attic: uint64 }, { jsonCase: "eth2" });

const value = {
  someNumber: 9,
  members: [0, 1, 2].map((index) => ({ publicKey: new Uint8Array(48).fill(index), isSlashed: index === 1 })),
  balances: [10, 11, 12, 13, 14, 15],
  empties: [],
  weights: Array.from({ length: 20 }, (_, index) => 100 + index),
  roots: [1, 2, 3].map((index) => new Uint8Array(32).fill(index)),
  flags: BitArray.fromBoolArray([false, false, true, false]),
  votes: BitArray.fromBoolArray(Array.from({ length: 300 }, (_, index) => index % 3 === 0)),
  note: Uint8Array.from({ length: 40 }, (_, index) => index),
};
const object: SszObject = {
  type: Old as unknown as CompositeTypeAny,
  node: Old.value_toTree(value),
  noun: "thing",
  fork: "old",
  typesByFork: () =>
    new Map<string, CompositeTypeAny>([
      ["oldest", Oldest as unknown as CompositeTypeAny],
      ["old", Old as unknown as CompositeTypeAny],
      ["new", New as unknown as CompositeTypeAny],
    ]),
};

/** Generalized index of the first field in `Old`. Nine fields need sixteen leaves. */
const FIELDS = 16n;
/** Generalized index of the first element in a list of up to 2^40 composite elements. */
const ELEMENTS = 2n ** 41n;

const hex = (byte: number, length: number) => `0x${byte.toString(16).padStart(2, "0").repeat(length)}`;

it.each<[SszPath, { gindex: bigint; value: unknown; offset?: number; bit?: number }]>([
  [["some_number"], { gindex: FIELDS, value: "9", offset: 0 }],
  [["members", 1], { gindex: 17n * ELEMENTS + 1n, value: { public_key: hex(1, 48), is_slashed: true } }],
  [["members", "2", "public_key"], { gindex: (17n * ELEMENTS + 2n) * 2n, value: hex(2, 48) }],
  [["members", 2, "public_key", 33], { gindex: (17n * ELEMENTS + 2n) * 4n + 1n, value: "2", offset: 1 }],
  [["members", 1, "is_slashed"], { gindex: (17n * ELEMENTS + 1n) * 2n + 1n, value: true, offset: 0 }],
  [["members", "length"], { gindex: 17n * 2n + 1n, value: "3", offset: 0 }],
  [["members", "__len__"], { gindex: 17n * 2n + 1n, value: "3", offset: 0 }],
  [["balances", 5], { gindex: 18n * 2n ** 39n + 1n, value: "15", offset: 8 }],
  [["empties", "length"], { gindex: 19n * 2n + 1n, value: "0", offset: 0 }],
  [["empties"], { gindex: 19n, value: [] }],
  [["weights", 17], { gindex: 20n * 2n + 1n, value: "117", offset: 2 }],
  [["roots", 2], { gindex: 21n * 4n + 2n, value: hex(3, 32) }],
  [["roots", 2, 5], { gindex: 21n * 4n + 2n, value: "3", offset: 5 }],
  [["flags", 2], { gindex: 22n, value: true, offset: 0, bit: 2 }],
  [["votes", 267], { gindex: 23n * 16n + 1n, value: true, offset: 1, bit: 3 }],
  [["votes", 268], { gindex: 23n * 16n + 1n, value: false, offset: 1, bit: 4 }],
  [["votes", "length"], { gindex: 23n * 2n + 1n, value: "300", offset: 0 }],
  [["note", 39], { gindex: 24n * 8n + 1n, value: "39", offset: 7 }],
  [["note", "length"], { gindex: 24n * 2n + 1n, value: "40", offset: 0 }],
])("resolves %j", (path, expected) => {
  const resolved = resolvePath(object, path);
  const { gindex, offset, bit } = resolved;
  expect({ gindex, offset, bit, value: readSmallValue(resolved, 1024) }).toEqual({
    offset: undefined,
    bit: undefined,
    ...expected,
  });
  expect(resolveGindex(object, gindex).node.root).toEqual(resolved.node.root);
});

it("returns null for a value larger than the limit", () => {
  expect(readSmallValue(resolvePath(object, ["note"]), 40)).toBe(`0x${Buffer.from(value.note).toString("hex")}`);
  expect(readSmallValue(resolvePath(object, ["note"]), 39)).toBeNull();
});

const EVERY_FIELD = "some_number, members, balances, empties, weights, roots, flags, votes, note";

it.each<[SszPath, string]>([
  [["mebmers"], `There is no field "mebmers" in old things. Did you mean "members"? Its fields are ${EVERY_FIELD}.`],
  [
    ["someNumber"],
    `There is no field "someNumber" in old things. Did you mean "some_number"? Its fields are ${EVERY_FIELD}.`,
  ],
  [["members", 0, "x"], 'There is no field "x" in ["members",0]. Its fields are public_key, is_slashed.'],
  [["members", 0, 1], 'There is no field 1 in ["members",0]. Its fields are public_key, is_slashed.'],
  [["queue"], 'There is no field "queue" in old things: it was introduced in new.'],
  [["queue", 0, "note"], 'There is no field "queue" in old things: it was introduced in new.'],
  [["attic"], 'There is no field "attic" in old things: it exists only up to oldest.'],
  [
    ["members", 3],
    '["members"] has 3 elements: the path must continue with an index from 0 to 2 or "length", but the number 3 was given.',
  ],
  [
    ["members", "18446744073709551615"],
    '["members"] has 3 elements: the path must continue with an index from 0 to 2 or "length", but "18446744073709551615" was given.',
  ],
  [
    ["members", "public_key"],
    '["members"] has 3 elements: the path must continue with an index from 0 to 2 or "length", but "public_key" was given.',
  ],
  [
    ["balances", 6],
    '["balances"] has 6 elements: the path must continue with an index from 0 to 5 or "length", but the number 6 was given.',
  ],
  [["empties", 0], '["empties"] is an empty list: only its "length" can be proven, but the number 0 was given.'],
  [
    ["roots", "length"],
    '["roots"] has 3 elements: the path must continue with an index from 0 to 2, but "length" was given.',
  ],
  [
    ["flags", 4],
    '["flags"] has 4 elements: the path must continue with an index from 0 to 3, but the number 4 was given.',
  ],
  [
    ["votes", 300],
    '["votes"] has 300 elements: the path must continue with an index from 0 to 299 or "length", but the number 300 was given.',
  ],
  [["some_number", 0], '["some_number"] is a single value, so the path cannot continue with the number 0.'],
  [["members", "length", 0], '["members","length"] is a single value, so the path cannot continue with the number 0.'],
  [["flags", 0, 0], '["flags",0] is a single value, so the path cannot continue with the number 0.'],
])("rejects the path %j", (path, message) => {
  expect(() => resolvePath(object, path)).toThrow(message);
});

it("rejects a generalized index below a leaf", () => {
  expect(() => resolveGindex(object, FIELDS * 4n + 1n)).toThrow(
    "The thing has no node with the generalized index 65: it would be below 16, which is a leaf.",
  );
  expect(resolveGindex(object, 1n).node).toBe(object.node);
});
