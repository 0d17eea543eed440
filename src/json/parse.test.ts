import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  IRREGULAR_NUMBERS_BELOW_BYTES,
  IrregularNumber,
  MAX_MEMBERS,
  MAX_NESTING,
  MAX_VALUES,
  parseLongMessage,
  parseMessage,
  parseOutline,
  READ_AT_ONCE_BYTES,
  splitArray,
  UnreadableMessage,
} from "./parse.ts";

const parse = (text: string) => parseMessage(Buffer.from(text));

describe("numbers", () => {
  it.each(["0", "1", "-1", "42", "9007199254740991", "-9007199254740991", "123456789012345"])(
    "%s is a number",
    (text) => {
      expect(parse(text)).toBe(Number(text));
    },
  );

  it.each([
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "12345678901234567890",
    "1.5",
    "1.0",
    "0.1",
    "1e3",
    "1E3",
    "2e-1",
    "-0",
    "-0.5",
    "1e999",
  ])("%s keeps its text", (text) => {
    expect(parse(text)).toEqual(new IrregularNumber(text));
  });

  it("keeps irregular numbers wherever they stand", () => {
    expect(parse('{"a":[1,{"b":12345678901234567890}],"c":-0,"d":7}')).toEqual({
      a: [1, { b: new IrregularNumber("12345678901234567890") }],
      c: new IrregularNumber("-0"),
      d: 7,
    });
  });

  it.each(['{"1.5":"12345678901234567890"}', '["\\"1.5","1e5"]', '["\\\\",1]', '["\\\\\\"",1]'])(
    "takes no number out of the strings of %s",
    (text) => {
      expect(parse(text)).toEqual(JSON.parse(text));
    },
  );

  it("finds a number behind a string that ends in an escaped backslash", () => {
    expect(parse('["\\\\",1.5]')).toEqual(["\\", new IrregularNumber("1.5")]);
  });
});

describe("the outline", () => {
  const outline = (text: string) => parseOutline(Buffer.from(text));
  const long = `[${"[1,{}],".repeat(100_000)}0]`;

  it.each([
    [`{"id":1,"params":${long},"method":"a"}`, { id: 1, params: [], method: "a" }],
    ['{"params":{"a":[1]},"x":[[]],"s":"]}[{\\""}', { params: {}, x: [], s: ']}[{"' }],
    ['{"params":[1],"params":{"a":1}}', { params: {} }],
    [
      '{"params":[1],"p\\u0061rams":null,"id":12345678901234567890}',
      { params: null, id: new IrregularNumber("12345678901234567890") },
    ],
    [" \n{}", {}],
    ['[{"a":[1]}]', [{ a: [1] }]],
    ['"text"', "text"],
  ])("of %j has its members, but nothing in arrays and objects", async (text, expected) => {
    expect(await outline(text)).toEqual(expected);
  });

  it.each(['{"a":[}', '{"a":[1]', '{"a":[1]}}', '{"a":[1],}', "{}{}", "", '{"a":[],"b":\xff}'])(
    "of what is no JSON outside of its members says what is wrong with the whole, as of %j",
    async (text) => {
      const bytes = Buffer.from(text, "latin1");
      const wrong = (await Promise.resolve(bytes)
        .then(parseMessage)
        .catch((error) => error)) as Error;
      expect(wrong).toBeInstanceOf(UnreadableMessage);
      await expect(parseOutline(bytes)).rejects.toThrow(wrong);
    },
  );

  it.each([
    ["a string", `"${"x".repeat(READ_AT_ONCE_BYTES)}"`],
    ["an array", `[${'"",'.repeat(READ_AT_ONCE_BYTES / 3)}1]`],
    ["an object that does not end", `{"a":[${" ".repeat(READ_AT_ONCE_BYTES)}`],
    ["an object with a long string", `{"id":"${"x".repeat(READ_AT_ONCE_BYTES)}"}`],
    ["an object far behind", `${" ".repeat(READ_AT_ONCE_BYTES)}{}`],
  ])("of %s that would take long to read is refused", async (_, text) => {
    await expect(outline(text)).rejects.toThrow("A message of more than 1048576 bytes must be a call or a batch");
  });

  it("of a very long message says that something is wrong outside of its members, but not where", async () => {
    const params = `["${"x".repeat(READ_AT_ONCE_BYTES)}"]`;
    expect(await outline(`{"params":${params},"id":1}`)).toEqual({ params: [], id: 1 });
    await expect(outline(`{"params":${params},}`)).rejects.toThrow("not JSON outside of its arrays and objects");
  });

  it("of what is no JSON within them is one nevertheless", async () => {
    expect(await outline('{"id":7,"params":[x 1 "]"]}')).toEqual({ id: 7, params: [] });
  });
});

describe("the elements of an array", () => {
  const split = async (text: string) =>
    (await splitArray(Buffer.from(text), 1000)).map((element) =>
      element instanceof Uint8Array ? Buffer.from(element).toString() : element,
    );

  it.each([
    ["[]", []],
    [' [ {"a":[1]} ,[[2],"]"], 7,null,"x,y" ]\n', ['{"a":[1]}', '[[2],"]"]', 7, null, "x,y"]],
    ["[12345678901234567890,{}]", [new IrregularNumber("12345678901234567890"), "{}"]],
    ['[{"é":"\\"}"}]', ['{"é":"\\"}"}']],
  ])("of %j are its texts and values", async (text, elements) => {
    expect(await split(text)).toEqual(elements);
  });

  it.each(["[", "[{]", "[{}", "[{}{}]", "[{},]", "[1 2]", "[{}]]", '[{}],"a"'])("of %j are none", async (text) => {
    await expect(split(text)).rejects.toThrow(UnreadableMessage);
  });

  it("are all given when they are exactly as many as are wanted", async () => {
    const elements = await split(`[${"{},".repeat(999)}{"last":1}]`);
    expect(elements).toHaveLength(1000);
    expect(elements[0]).toBe("{}");
    expect(elements[999]).toBe('{"last":1}');
  });

  it("are only counted when they are too many", async () => {
    const elements = await splitArray(Buffer.from(`[${"{},".repeat(1000)}{}]`), 1000);
    expect(elements).toHaveLength(1001);
    expect(elements[0]).toBeUndefined();
  });

  it("are not read when there is too much beside arrays and objects", async () => {
    await expect(split(`[${'"x",'.repeat(300_000)}{}]`)).rejects.toThrow("must be a call or a batch");
  });
});

describe.each([
  ["the outline of a long message", parseOutline],
  ["all of a long message", parseLongMessage],
])("whoever reads %s", (_, read) => {
  it.each([
    ["many strings", `"${"x".repeat(1022)}",`.repeat(1024)],
    ["one string", `"${"x".repeat(1024 * 1024)}",`],
  ])("gives others their turns while it is looked at, and keeps the limits, with %s", async (_, items) => {
    const values = Buffer.from(`{"params":[${"1,".repeat(MAX_VALUES + 1)}1]}`);
    await expect(read(values)).rejects.toThrow("more than 500000 values");
    // As if each look at the time were a while after the one before.
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => {
      now += 1000;
      return now;
    });
    onTestFinished(() => clock.mockRestore());
    let turns = 0;
    const count = () => {
      turns++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    await read(Buffer.from(`{"params":[${items}1]}`));
    clearImmediate(counting);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});

it("a long message is read like any other", async () => {
  const text = '{"params":[1,{"a":12345678901234567890}],"s":"\\u00e9"}';
  expect(await parseLongMessage(Buffer.from(text))).toEqual(parse(text));
});

it("the end of a string is found wherever a look ends", async () => {
  const LOOK = 256 * 1024;
  for (let before = LOOK - 24; before < LOOK + 2; before++) {
    const text = `["${"x".repeat(before)}","]\\"[","\\\\",{"a":"}"},1]`;
    const bytes = Buffer.from(`{"params":${text},"id":"\\"]"}`);
    expect(await parseLongMessage(bytes)).toEqual(JSON.parse(bytes.toString()));
    expect(await parseOutline(bytes)).toEqual({ params: [], id: '"]' });
  }
});

describe("texts that would take too long to read", () => {
  it.each([
    ["arrays without commas between them", `{"a":${"[]".repeat(50_000)}}`],
    ["objects without commas between them", `[${"{}".repeat(50_000)}]`],
  ])("refuses %s", async (_, text) => {
    await expect(parseOutline(Buffer.from(text))).rejects.toThrow("have no commas between them");
    await expect(splitArray(Buffer.from(text), 1000)).rejects.toThrow("have no commas between them");
  });

  it("refuses a long number without looking for its end", async () => {
    const digits = `{"a":[${"1".repeat(IRREGULAR_NUMBERS_BELOW_BYTES)}]}`;
    await expect(parseOutline(Buffer.from(digits))).rejects.toThrow("write large numbers as strings");
    const safe = `{"a":[${"123456789012345,".repeat(20_000)}1]}`;
    expect(await parseLongMessage(Buffer.from(safe))).toEqual(JSON.parse(safe));
  });

  it("refuses irregular numbers in large messages, and only there", () => {
    const large = (number: string) => `[${number},"${"x".repeat(IRREGULAR_NUMBERS_BELOW_BYTES)}"]`;
    expect(() => parse(large("1.5"))).toThrow("may hold no fractions");
    expect(() => parse(large("12345678901234567890"))).toThrow("write large numbers as strings");
    expect(parse(large('12345,"1.5"'))).toHaveLength(3);
  });

  it("refuses more values than any list needs", () => {
    expect(parse(`[0${",0".repeat(MAX_VALUES)}]`)).toHaveLength(MAX_VALUES + 1);
    expect(() => parse(`[0${",0".repeat(MAX_VALUES + 1)}]`)).toThrow(`more than ${MAX_VALUES} values`);
  });

  it("an object may have a thousand members, wherever it stands, and no more", () => {
    const members = (count: number) => Array.from({ length: count }, (_, index) => `"${index}":[{"a":1}]`).join(",");
    expect(Object.keys(parse(`{${members(MAX_MEMBERS)}}`) as object)).toHaveLength(MAX_MEMBERS);
    expect(parse(`[{${members(MAX_MEMBERS)}},{${members(MAX_MEMBERS)}}]`)).toHaveLength(2);
    expect(() => parse(`[[{${members(MAX_MEMBERS + 1)}}]]`)).toThrow(`more than ${MAX_MEMBERS} members`);
  });
});

describe("texts that are not JSON", () => {
  it.each(["", " ", "{", '"', '"\\', "[1,]", "01", "-", "1.", "nul", "{}{}", "'a'", "NaN"])("refuses %j", (text) => {
    expect(() => parse(text)).toThrow(UnreadableMessage);
  });

  it("refuses invalid UTF-8", () => {
    expect(() => parseMessage(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toThrow("The message is not valid UTF-8.");
  });

  it.each(["[", '{"a":', "[1.5,"])("refuses a million %s", (opening) => {
    expect(() => parse(opening.repeat(1_000_000))).toThrow(UnreadableMessage);
  });
});

describe("nesting", () => {
  const nested = (levels: number, innermost: string) => "[".repeat(levels) + innermost + "]".repeat(levels);

  it.each(["1", "1.5"])("accepts the deepest allowed text around %s", (innermost) => {
    expect(parse(nested(MAX_NESTING, innermost))).toBeInstanceOf(Array);
  });

  it.each(["1", "1.5"])("refuses one level more around %s", (innermost) => {
    expect(() => parse(nested(MAX_NESTING + 1, innermost))).toThrow("more than 512 levels deep");
  });

  it("counts depth, not brackets", () => {
    expect(parse(`[${"[],".repeat(MAX_NESTING)}{}]`)).toHaveLength(MAX_NESTING + 1);
  });
});

it.each(["1", "1.5"])("a member named __proto__ beside %s is an ordinary member", (number) => {
  const value = parse(`{"__proto__":{"polluted":true},"n":${number}}`) as Record<string, unknown>;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(Object.hasOwn(value, "__proto__")).toBe(true);
  expect(value.polluted).toBeUndefined();
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

it("the last of several members with one name wins", () => {
  expect(parse('{"a":1,"a":2}')).toEqual({ a: 2 });
});
