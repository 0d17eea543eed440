import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestServer, requestText, type TestServer } from "../../../test/support/server/jsonrpc/server.ts";
import { MAX_MEMBERS, MAX_NESTING, MAX_VALUES } from "../../json/parse.ts";

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer({ suggest: (name) => (name === "ecko" ? "echo" : undefined) });
});
afterAll(() => server.close());

const result = (id: string, value: string) => `{"jsonrpc":"2.0","id":${id},"result":${value}}`;

/** Start of an error response, up to its message. */
const error = (id: string, code: number) => `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":"`;

describe("responds with the exact text", () => {
  it.each<[situation: string, body: string, answer: string]>([
    ["success", requestText({ params: "[1]" }), result("1", "[1]")],
    ["a null result", requestText({ method: '"null"' }), result("1", "null")],
    ["a large result", requestText({ method: '"large"' }), result("1", JSON.stringify("x".repeat(200_000)))],
    ["no params", requestText({}), result("1", "[]")],
    ["params null", requestText({ params: "null" }), result("1", "[]")],
    ["params by name", requestText({ params: '{"a":"1"}' }), result("1", '{"a":"1"}')],
    ["unknown members", requestText({ extra: "[1]", result: "2" }), result("1", "[]")],
    ["duplicate members", '{"jsonrpc":"2.0","id":1,"method":"no","method":"echo","id":2}', result("2", "[]")],
    ["white space around", `\n\t ${requestText({})} \r\n`, result("1", "[]")],
    ["an irregular parameter", requestText({ params: "[1.50,-0]" }), result("1", '["irregular 1.50","irregular -0"]')],
    ["a __proto__ parameter", requestText({ params: '{"__proto__":1}' }), result("1", '{"__proto__":1}')],
    ["id 1 as a string", requestText({ id: '"1"' }), result('"1"', "[]")],
    ["id zero", requestText({ id: "0" }), result("0", "[]")],
    ["a negative id", requestText({ id: "-7" }), result("-7", "[]")],
    ["an empty id", requestText({ id: '""' }), result('""', "[]")],
    ["an id with quotes", requestText({ id: '"a\\"é\\n"' }), result('"a\\"é\\n"', "[]")],
    ["an id beyond 2^53", requestText({ id: "12345678901234567890" }), result("12345678901234567890", "[]")],
    ["the id 2^53+1", requestText({ id: "9007199254740993" }), result("9007199254740993", "[]")],
    ["id null", requestText({ id: "null" }), result("null", "[]")],
    ["meta not asked for", requestText({ method: '"described"', meta: "1" }), result("1", '"block"')],
    [
      "meta asked for",
      requestText({ method: '"described"', meta: "true" }),
      '{"jsonrpc":"2.0","id":1,"result":"block","meta":{"version":"deneb","finalized":false}}',
    ],
    ["meta of a method without any", requestText({ meta: "true" }), '{"jsonrpc":"2.0","id":1,"result":[],"meta":{}}'],
  ])("%s", async (_situation, body, answer) => {
    const received = await server.post(body);
    expect(received.text).toBe(answer);
    expect(received.status).toBe(200);
    expect(received.headers["content-type"]).toBe("application/json");
    expect(received.headers["content-length"]).toBe(String(Buffer.byteLength(answer)));
  });
});

describe("responds with an error object and HTTP status 200", () => {
  it.each<[situation: string, body: string | Uint8Array, id: string, code: number]>([
    ["an empty body", "", "null", -32700],
    ["a body that is not JSON", '{"jsonrpc":', "null", -32700],
    ["invalid UTF-8", Buffer.from([0x22, 0xff, 0x22]), "null", -32700],
    ["a million brackets", "[".repeat(1_000_000), "null", -32600],
    ["a million balanced brackets", "[".repeat(500_000) + "]".repeat(500_000), "null", -32600],
    ["null as body", "null", "null", -32600],
    ["a string as body", '"echo"', "null", -32600],
    ["a number as body", "1", "null", -32600],
    ["an irregular number as body", "1.5", "null", -32600],
    ["true as body", "true", "null", -32600],
    ["an empty object", "{}", "null", -32600],
    ["jsonrpc missing", requestText({ jsonrpc: undefined, id: '"x"' }), '"x"', -32600],
    ["jsonrpc 1.0", requestText({ jsonrpc: '"1.0"' }), "1", -32600],
    ["jsonrpc as a number", requestText({ jsonrpc: "2.0" }), "1", -32600],
    ["jsonrpc and id missing", requestText({ jsonrpc: undefined, id: undefined }), "null", -32600],
    ["jsonrpc missing, illegal id", requestText({ jsonrpc: undefined, id: "{}" }), "null", -32600],
    ["method missing", requestText({ method: undefined }), "1", -32600],
    ["method empty", requestText({ method: '""' }), "1", -32600],
    ["method not a string", requestText({ method: "1" }), "1", -32600],
    ["id an object", requestText({ id: "{}" }), "null", -32600],
    ["id an array", requestText({ id: "[1]" }), "null", -32600],
    ["id true", requestText({ id: "true" }), "null", -32600],
    ["id a fraction", requestText({ id: "1.5" }), "null", -32600],
    ["id in exponent form", requestText({ id: "1e3" }), "null", -32600],
    ["params a string", requestText({ params: '"a"' }), "1", -32600],
    ["params a number", requestText({ params: "1" }), "1", -32600],
    ["params an irregular number", requestText({ params: "1.5" }), "1", -32600],
    ["params a boolean", requestText({ params: "false" }), "1", -32600],
    ["an unknown method", requestText({ method: '"no_such"' }), "1", -32601],
    ["a method of the rpc namespace", requestText({ method: '"rpc.echo"' }), "1", -32601],
    ["a name in another case", requestText({ method: '"Echo"' }), "1", -32601],
    ["a name of Object's prototype", requestText({ method: '"__proto__"' }), "1", -32601],
    ["invalid params", requestText({ method: '"fail"', params: '["invalid-params"]' }), "1", -32602],
    ["a crashed handler", requestText({ method: '"crash"' }), "1", -32603],
    ["an empty result", requestText({ method: '"empty_body"' }), "1", -32603],
    ["a streamed result without a byte", requestText({ method: '"empty_stream"' }), "1", -32603],
    ["a stream that breaks before its first byte", requestText({ method: '"early_break"' }), "1", -32002],
    ["a server failure", requestText({ method: '"fail"', params: '["server"]' }), "1", -32000],
    ["something not found", requestText({ method: '"fail"', params: '["not-found"]' }), "1", -32001],
    ["something unavailable", requestText({ method: '"fail"', params: '["unavailable"]' }), "1", -32002],
    ["a rejected submission", requestText({ method: '"fail"', params: '["rejected"]' }), "1", -32003],
    ["something unsupported", requestText({ method: '"fail"', params: '["unsupported"]' }), "1", -32004],
    ["a limit exceeded", requestText({ method: '"fail"', params: '["limit-exceeded"]' }), "1", -32005],
    [
      "an error keeps a large id",
      requestText({ method: '"no"', id: "12345678901234567890" }),
      "12345678901234567890",
      -32601,
    ],
    ["an empty batch", "[]", "null", -32600],
    ["1001 elements", `[${Array(1001).fill(requestText({})).join(",")}]`, "null", -32005],
  ])("%s", async (_situation, body, id, code) => {
    const received = await server.post(body);
    expect(received.text.slice(0, error(id, code).length)).toBe(error(id, code));
    expect(Object.keys(JSON.parse(received.text))).toEqual(["jsonrpc", "id", "error"]);
    expect(received.status).toBe(200);
    expect(received.headers["content-type"]).toBe("application/json");
  });
});

describe("error objects", () => {
  const errorOf = async (body: string) => JSON.parse((await server.post(body)).text).error;

  it("name the limit that a message exceeds, which may be valid JSON", async () => {
    const members = (count: number) => Array.from({ length: count }, (_, index) => `"${index}":0`).join();
    const exceeded = (message: string) => ({ code: -32600, message, data: { status: 400 } });
    for (const [params, message] of [
      [`[{${members(MAX_MEMBERS + 1)}}]`, "The message has an object with more than 10000 members. Split it."],
      [`[0${",0".repeat(MAX_VALUES)}]`, "The message has more than 500000 values. Split it."],
      ["[".repeat(MAX_NESTING) + "]".repeat(MAX_NESTING), "nests arrays and objects more than 512 levels deep."],
      [`[1.5,"${"x".repeat(256 * 1024)}"]`, "A message of 262144 bytes or more must not contain fractions"],
    ] as const) {
      const received = await errorOf(requestText({ params }));
      expect(received).toEqual(exceeded(expect.stringContaining(message)));
    }
    expect(await errorOf(requestText({ params: `[{${members(MAX_MEMBERS)}}]` }))).toBeUndefined();
  });

  it("contain detail and failures", async () => {
    const failures = [{ index: 1, message: "bad signature" }];
    const params = JSON.stringify(["rejected", "One item was refused.", failures]);
    expect(await errorOf(requestText({ method: '"fail"', params }))).toEqual({
      code: -32003,
      message: "It failed as rejected.",
      data: { status: 400, detail: "One item was refused.", failures },
    });
  });

  it("omit missing members", async () => {
    const { data } = await errorOf(requestText({ method: '"fail"', params: '["not-found"]' }));
    expect(data).toEqual({ status: 404 });
  });

  it("hide unexpected errors, which are logged", async () => {
    const received = await server.post(requestText({ method: '"crash"' }));
    expect(JSON.parse(received.text).error).toEqual({ code: -32603, message: "Internal error", data: { status: 500 } });
    const record = server.log.findLast(({ level }) => level === "error");
    expect(record?.fields?.method).toBe("crash");
    expect(record?.fields?.error).toMatch(/a secret of the node\n\s+at /);
  });

  it("suggest a similar method", async () => {
    const { message } = await errorOf(requestText({ method: '"ecko"' }));
    expect(message).toBe('The method "ecko" does not exist. Did you mean "echo"?');
  });

  it("truncate a long method name", async () => {
    const { message } = await errorOf(requestText({ method: JSON.stringify("m".repeat(100_000)) }));
    expect(message).toBe(`The method "${"m".repeat(100)}…" does not exist.`);
  });

  it("give the position of a JSON syntax error", async () => {
    const { data } = await errorOf("[1,]");
    expect(data.detail).toContain("Unexpected token");
  });
});

describe("headers", () => {
  it("of a single call contain the metadata of its result", async () => {
    const received = await server.post(requestText({ method: '"described"' }));
    expect(received.headers["eth-consensus-version"]).toBe("deneb");
  });

  it("of a batch contain no metadata", async () => {
    const received = await server.post(`[${requestText({ method: '"described"' })}]`);
    expect(received.headers["eth-consensus-version"]).toBeUndefined();
  });
});
