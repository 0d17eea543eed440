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
import { placeAtGindex, placeAtPath, type SszObject, type SszPath, smallValueAt } from "./ssz-place.ts";

const uint64 = new UintNumberType(8);
const bytes32 = new ByteVectorType(32);
const Person = new ContainerNodeStructType(
  { publicKey: new ByteVectorType(48), isSlashed: new BooleanType() },
  { jsonCase: "eth2" },
);
const fields = {
  someNumber: uint64,
  people: new ListCompositeType(Person, 2 ** 40),
  balances: new ListBasicType(uint64, 2 ** 40),
  nobody: new ListBasicType(uint64, 4),
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
  people: [0, 1, 2].map((index) => ({ publicKey: new Uint8Array(48).fill(index), isSlashed: index === 1 })),
  balances: [10, 11, 12, 13, 14, 15],
  nobody: [],
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

/** Where the fields of `Old` begin: nine fields need a tree of sixteen. */
const FIELDS = 16n;
/** Of a list with 2^40 elements, one each leaf, below its node. */
const ELEMENTS = 2n ** 41n;

const hex = (byte: number, length: number) => `0x${byte.toString(16).padStart(2, "0").repeat(length)}`;

it.each<[SszPath, { gindex: bigint; value: unknown; offset?: number; bit?: number }]>([
  [["some_number"], { gindex: FIELDS, value: "9", offset: 0 }],
  [["people", 1], { gindex: 17n * ELEMENTS + 1n, value: { public_key: hex(1, 48), is_slashed: true } }],
  [["people", "2", "public_key"], { gindex: (17n * ELEMENTS + 2n) * 2n, value: hex(2, 48) }],
  [["people", 2, "public_key", 33], { gindex: (17n * ELEMENTS + 2n) * 4n + 1n, value: "2", offset: 1 }],
  [["people", 1, "is_slashed"], { gindex: (17n * ELEMENTS + 1n) * 2n + 1n, value: true, offset: 0 }],
  [["people", "length"], { gindex: 17n * 2n + 1n, value: "3", offset: 0 }],
  [["people", "__len__"], { gindex: 17n * 2n + 1n, value: "3", offset: 0 }],
  [["balances", 5], { gindex: 18n * 2n ** 39n + 1n, value: "15", offset: 8 }],
  [["nobody", "length"], { gindex: 19n * 2n + 1n, value: "0", offset: 0 }],
  [["nobody"], { gindex: 19n, value: [] }],
  [["weights", 17], { gindex: 20n * 2n + 1n, value: "117", offset: 2 }],
  [["roots", 2], { gindex: 21n * 4n + 2n, value: hex(3, 32) }],
  [["roots", 2, 5], { gindex: 21n * 4n + 2n, value: "3", offset: 5 }],
  [["flags", 2], { gindex: 22n, value: true, offset: 0, bit: 2 }],
  [["votes", 267], { gindex: 23n * 16n + 1n, value: true, offset: 1, bit: 3 }],
  [["votes", 268], { gindex: 23n * 16n + 1n, value: false, offset: 1, bit: 4 }],
  [["votes", "length"], { gindex: 23n * 2n + 1n, value: "300", offset: 0 }],
  [["note", 39], { gindex: 24n * 8n + 1n, value: "39", offset: 7 }],
  [["note", "length"], { gindex: 24n * 2n + 1n, value: "40", offset: 0 }],
])("%j", (path, expected) => {
  const place = placeAtPath(object, path);
  const { gindex, offset, bit } = place;
  expect({ gindex, offset, bit, value: smallValueAt(place, 1024) }).toEqual({
    offset: undefined,
    bit: undefined,
    ...expected,
  });
  expect(placeAtGindex(object, gindex).node.root).toEqual(place.node.root);
});

it("tells no value that takes more bytes than are wanted", () => {
  expect(smallValueAt(placeAtPath(object, ["note"]), 40)).toBe(`0x${Buffer.from(value.note).toString("hex")}`);
  expect(smallValueAt(placeAtPath(object, ["note"]), 39)).toBeNull();
});

const EVERY_FIELD = "some_number, people, balances, nobody, weights, roots, flags, votes, note";

it.each<[SszPath, string]>([
  [
    ["poeple"],
    `There is no field "poeple" in a thing of old. Did you mean "people"? The fields there are ${EVERY_FIELD}.`,
  ],
  [
    ["someNumber"],
    `There is no field "someNumber" in a thing of old. Did you mean "some_number"? The fields there are ${EVERY_FIELD}.`,
  ],
  [["people", 0, "x"], 'There is no field "x" in ["people",0]. The fields there are public_key, is_slashed.'],
  [["people", 0, 1], 'There is no field 1 in ["people",0]. The fields there are public_key, is_slashed.'],
  [["queue"], 'There is no field "queue" in a thing of old: it came with new.'],
  [["queue", 0, "note"], 'There is no field "queue" in a thing of old: it came with new.'],
  [["attic"], 'There is no field "attic" in a thing of old: it was there up to oldest.'],
  [
    ["people", 3],
    '["people"] has 3 elements: the path must go on with an index from 0 to 2 or "length", but the number 3 was given.',
  ],
  [
    ["people", "18446744073709551615"],
    '["people"] has 3 elements: the path must go on with an index from 0 to 2 or "length", but "18446744073709551615" was given.',
  ],
  [
    ["people", "public_key"],
    '["people"] has 3 elements: the path must go on with an index from 0 to 2 or "length", but "public_key" was given.',
  ],
  [
    ["balances", 6],
    '["balances"] has 6 elements: the path must go on with an index from 0 to 5 or "length", but the number 6 was given.',
  ],
  [
    ["nobody", 0],
    '["nobody"] is an empty list, of which nothing but its "length" can be proven, but the number 0 was given.',
  ],
  [
    ["roots", "length"],
    '["roots"] has 3 elements: the path must go on with an index from 0 to 2, but "length" was given.',
  ],
  [
    ["flags", 4],
    '["flags"] has 4 elements: the path must go on with an index from 0 to 3, but the number 4 was given.',
  ],
  [
    ["votes", 300],
    '["votes"] has 300 elements: the path must go on with an index from 0 to 299 or "length", but the number 300 was given.',
  ],
  [["some_number", 0], '["some_number"] is a single value, so that the path cannot go on with the number 0.'],
  [["people", "length", 0], '["people","length"] is a single value, so that the path cannot go on with the number 0.'],
  [["flags", 0, 0], '["flags",0] is a single value, so that the path cannot go on with the number 0.'],
])("%j leads nowhere", (path, message) => {
  expect(() => placeAtPath(object, path)).toThrow(message);
});

it("refuses a generalized index below a leaf", () => {
  expect(() => placeAtGindex(object, FIELDS * 4n + 1n)).toThrow(
    "The thing has no node with the generalized index 65: it would be below 16, which is a leaf.",
  );
  expect(placeAtGindex(object, 1n).node).toBe(object.node);
});
