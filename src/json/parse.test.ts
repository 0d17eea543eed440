import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  IRREGULAR_NUMBERS_BELOW_BYTES,
  IrregularNumber,
  JsonParseError,
  MAX_MEMBERS,
  MAX_NESTING,
  MAX_SYNC_PARSE_BYTES,
  MAX_VALUES,
  parseMessage,
  parseMessageInSlices,
  parseScanned,
  parseTopLevel,
  parseWithNested,
  splitArray,
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

  it("keeps irregular numbers at any depth", () => {
    expect(parse('{"a":[1,{"b":12345678901234567890}],"c":-0,"d":7}')).toEqual({
      a: [1, { b: new IrregularNumber("12345678901234567890") }],
      c: new IrregularNumber("-0"),
      d: 7,
    });
  });

  it.each(['{"1.5":"12345678901234567890"}', '["\\"1.5","1e5"]', '["\\\\",1]', '["\\\\\\"",1]'])(
    "ignores numbers in the strings of %s",
    (text) => {
      expect(parse(text)).toEqual(JSON.parse(text));
    },
  );

  it("finds a number after a string that ends in an escaped backslash", () => {
    expect(parse('["\\\\",1.5]')).toEqual(["\\", new IrregularNumber("1.5")]);
  });
});

describe("parseTopLevel", () => {
  const topLevel = async (text: string) => (await parseTopLevel(Buffer.from(text))).value;
  const long = `[${"[1,{}],".repeat(100_000)}0]`;

  it.each([
    [`{"id":1,"params":${long},"method":"a"}`, { id: 1, params: [0], method: "a" }],
    ['{"params":{"a":[1]},"x":[[]],"s":"]}[{\\""}', { params: [0], x: [1], s: ']}[{"' }],
    ['{"params":[1],"params":{"a":1}}', { params: [1] }],
    [
      '{"params":[1],"p\\u0061rams":null,"id":12345678901234567890}',
      { params: null, id: new IrregularNumber("12345678901234567890") },
    ],
    [" \n{}", {}],
    ['[{"a":[1]}]', [{ a: [1] }]],
    ['"text"', "text"],
  ])("parses the members of %j with placeholders for nested values", async (text, expected) => {
    expect(await topLevel(text)).toEqual(expected);
  });

  it.each(['{"a":[}', '{"a":[1]', '{"a":[1]}}', '{"a":[1],}', "{}{}", "", '{"a":[],"b":\xff}'])(
    "reports the error of the whole message for %j",
    async (text) => {
      const bytes = Buffer.from(text, "latin1");
      const wrong = (await Promise.resolve(bytes)
        .then(parseMessage)
        .catch((error) => error)) as Error;
      expect(wrong).toBeInstanceOf(JsonParseError);
      await expect(parseTopLevel(bytes)).rejects.toThrow(wrong);
    },
  );

  it.each([
    ["a string", `"${"x".repeat(MAX_SYNC_PARSE_BYTES)}"`],
    ["an array", `[${'"",'.repeat(MAX_SYNC_PARSE_BYTES / 3)}1]`],
    ["an unterminated object", `{"a":[${" ".repeat(MAX_SYNC_PARSE_BYTES)}`],
    ["an object with a long string", `{"id":"${"x".repeat(MAX_SYNC_PARSE_BYTES)}"}`],
    ["an object after much whitespace", `${" ".repeat(MAX_SYNC_PARSE_BYTES)}{}`],
  ])("rejects %s that is too large for a synchronous parse", async (_, text) => {
    await expect(topLevel(text)).rejects.toThrow("A message of more than 1048576 bytes must be a call or a batch");
  });

  it("reports an error outside of nested values of a very large message without its position", async () => {
    const params = `["${"x".repeat(MAX_SYNC_PARSE_BYTES)}"]`;
    expect(await topLevel(`{"params":${params},"id":1}`)).toEqual({ params: [0], id: 1 });
    await expect(topLevel(`{"params":${params},}`)).rejects.toThrow(
      "not JSON outside of its nested arrays and objects",
    );
  });

  it("does not validate nested values", async () => {
    const { value, nested } = await parseTopLevel(Buffer.from('{"id":7,"p":[{}],"params":[x 1 "]"]}'));
    expect(value).toEqual({ id: 7, p: [0], params: [1] });
    expect(nested([1]).text).toBe('[x 1 "]"]');
  });
});

describe("parseWithNested", () => {
  it.each([
    ['{"id":"é]","params": [ "\\ud800é", 1 ] ,"method":"a"}', '[ "\\ud800é", 1 ]'],
    ['{"params":{"a":{"b":[]}},"id":1}', '{"a":{"b":[]}}'],
    ['{"params":"[]"}', undefined],
    ['{"params":[1],"params":[2]}', undefined],
    ["[1]", undefined],
  ])("returns the text of the only nested value of %s", (text, expected) => {
    const { value, nested } = parseWithNested(Buffer.from(text));
    expect(value).toEqual(JSON.parse(text));
    expect(nested?.text).toBe(expected);
  });

  it("knows whether numbers may be irregular", () => {
    const nestedOf = (text: string) => parseWithNested(Buffer.from(text)).nested!;
    expect(nestedOf('{"params":[1]}').isIrregular).toBe(false);
    const { text, isIrregular } = nestedOf('{"params":[1.50]}');
    expect(isIrregular).toBe(true);
    expect(parseScanned(text, isIrregular)).toEqual([new IrregularNumber("1.50")]);
  });
});

describe("splitArray", () => {
  const split = async (text: string) =>
    (await splitArray(Buffer.from(text), 1000)).map((element) =>
      element instanceof Uint8Array ? Buffer.from(element).toString() : element,
    );

  it.each([
    ["[]", []],
    [' [ {"a":[1]} ,[[2],"]"], 7,null,"x,y" ]\n', ['{"a":[1]}', '[[2],"]"]', 7, null, "x,y"]],
    ["[12345678901234567890,{}]", [new IrregularNumber("12345678901234567890"), "{}"]],
    ['[{"é":"\\"}"}]', ['{"é":"\\"}"}']],
  ])("splits %j into texts and values", async (text, elements) => {
    expect(await split(text)).toEqual(elements);
  });

  it.each(["[", "[{]", "[{}", "[{}{}]", "[{},]", "[1 2]", "[{}]]", '[{}],"a"'])("rejects %j", async (text) => {
    await expect(split(text)).rejects.toThrow(JsonParseError);
  });

  it("returns as many elements as the limit allows", async () => {
    const elements = await split(`[${"{},".repeat(999)}{"last":1}]`);
    expect(elements).toHaveLength(1000);
    expect(elements[0]).toBe("{}");
    expect(elements[999]).toBe('{"last":1}');
  });

  it("only counts elements above the limit", async () => {
    const elements = await splitArray(Buffer.from(`[${"{},".repeat(1000)}{}]`), 1000);
    expect(elements).toHaveLength(1001);
    expect(elements[0]).toBeUndefined();
  });

  it("rejects too many bytes outside of nested values", async () => {
    await expect(split(`[${'"x",'.repeat(300_000)}{}]`)).rejects.toThrow("must be a call or a batch");
  });
});

describe.each([
  ["parseTopLevel", parseTopLevel],
  ["parseMessageInSlices", parseMessageInSlices],
])("%s", (_, read) => {
  it.each([
    ["many strings", `"${"x".repeat(1022)}",`.repeat(1024)],
    ["one string", `"${"x".repeat(1024 * 1024)}",`],
  ])("yields to the event loop and enforces the limits, with %s", async (_, items) => {
    const values = Buffer.from(`{"params":[${"1,".repeat(MAX_VALUES + 1)}1]}`);
    await expect(read(values)).rejects.toThrow("more than 500000 values");
    // The clock advances by a second each time it is read.
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

it("parses a large message like any other", async () => {
  const text = '{"params":[1,{"a":12345678901234567890}],"s":"\\u00e9"}';
  expect(await parseMessageInSlices(Buffer.from(text))).toEqual(parse(text));
});

it("finds the end of a string across the steps of the scan", async () => {
  const STEP = 256 * 1024;
  for (let before = STEP - 24; before < STEP + 2; before++) {
    const text = `["${"x".repeat(before)}","]\\"[","\\\\",{"a":"}"},1]`;
    const bytes = Buffer.from(`{"params":${text},"id":"\\"]"}`);
    expect(await parseMessageInSlices(bytes)).toEqual(JSON.parse(bytes.toString()));
    const { value, nested } = await parseTopLevel(bytes);
    expect(value).toEqual({ params: [0], id: '"]' });
    expect(nested([0]).text).toBe(text);
  }
});

describe("limits", () => {
  it.each([
    ["arrays without commas", `{"a":${"[]".repeat(50_000)}}`],
    ["objects without commas", `[${"{}".repeat(50_000)}]`],
  ])("rejects %s", async (_, text) => {
    await expect(parseTopLevel(Buffer.from(text))).rejects.toThrow("commas are missing");
    await expect(splitArray(Buffer.from(text), 1000)).rejects.toThrow("commas are missing");
  });

  it("rejects a long number without scanning to its end", async () => {
    const digits = `{"a":[${"1".repeat(IRREGULAR_NUMBERS_BELOW_BYTES)}]}`;
    await expect(parseTopLevel(Buffer.from(digits))).rejects.toThrow("Write large numbers as strings");
    const safe = `{"a":[${"123456789012345,".repeat(20_000)}1]}`;
    expect(await parseMessageInSlices(Buffer.from(safe))).toEqual(JSON.parse(safe));
  });

  it("rejects irregular numbers in large messages only", () => {
    const large = (number: string) => `[${number},"${"x".repeat(IRREGULAR_NUMBERS_BELOW_BYTES)}"]`;
    expect(() => parse(large("1.5"))).toThrow("must not contain fractions");
    expect(() => parse(large("12345678901234567890"))).toThrow("Write large numbers as strings");
    expect(parse(large('12345,"1.5"'))).toHaveLength(3);
  });

  it("limits the number of values", () => {
    expect(parse(`[0${",0".repeat(MAX_VALUES)}]`)).toHaveLength(MAX_VALUES + 1);
    expect(() => parse(`[0${",0".repeat(MAX_VALUES + 1)}]`)).toThrow(`more than ${MAX_VALUES} values`);
  });

  it("limits the members of an object at any depth", () => {
    const members = (count: number) => Array.from({ length: count }, (_, index) => `"${index}":[{"a":1}]`).join(",");
    expect(Object.keys(parse(`{${members(MAX_MEMBERS)}}`) as object)).toHaveLength(MAX_MEMBERS);
    expect(parse(`[{${members(MAX_MEMBERS)}},{${members(MAX_MEMBERS)}}]`)).toHaveLength(2);
    expect(() => parse(`[[{${members(MAX_MEMBERS + 1)}}]]`)).toThrow(`more than ${MAX_MEMBERS} members`);
  });
});

describe("invalid JSON", () => {
  it.each(["", " ", "{", '"', '"\\', "[1,]", "01", "-", "1.", "nul", "{}{}", "'a'", "NaN"])("rejects %j", (text) => {
    expect(() => parse(text)).toThrow(JsonParseError);
  });

  it("rejects invalid UTF-8", () => {
    expect(() => parseMessage(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toThrow("The message is not valid UTF-8.");
  });

  it.each(["[", '{"a":', "[1.5,"])("rejects a million %s", (opening) => {
    expect(() => parse(opening.repeat(1_000_000))).toThrow(JsonParseError);
  });
});

describe("nesting", () => {
  const nested = (levels: number, innermost: string) => "[".repeat(levels) + innermost + "]".repeat(levels);

  it.each(["1", "1.5"])("accepts the maximum depth around %s", (innermost) => {
    expect(parse(nested(MAX_NESTING, innermost))).toBeInstanceOf(Array);
  });

  it.each(["1", "1.5"])("rejects one level more around %s", (innermost) => {
    expect(() => parse(nested(MAX_NESTING + 1, innermost))).toThrow("more than 512 levels deep");
  });

  it("counts depth, not brackets", () => {
    expect(parse(`[${"[],".repeat(MAX_NESTING)}{}]`)).toHaveLength(MAX_NESTING + 1);
  });
});

it.each(["1", "1.5"])("treats __proto__ next to %s as an ordinary member", (number) => {
  const value = parse(`{"__proto__":{"polluted":true},"n":${number}}`) as Record<string, unknown>;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(Object.hasOwn(value, "__proto__")).toBe(true);
  expect(value.polluted).toBeUndefined();
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

it("keeps the last of duplicate members", () => {
  expect(parse('{"a":1,"a":2}')).toEqual({ a: 2 });
});
