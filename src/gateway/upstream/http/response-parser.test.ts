import { describe, expect, it } from "vitest";
import { HttpError, ResponseParser } from "./response-parser.ts";

interface Parsed {
  status: number;
  headers: Record<string, string>;
  body: string;
  isComplete: boolean;
  keepsAlive: boolean;
  /** What came beyond the answer. */
  rest: string;
}

/** What comes of an answer that is read in pieces of these sizes, the last of which is used for all others. */
function parse(answer: string, ...sizes: [number, ...number[]]): Parsed {
  const parser = new ResponseParser();
  const parsed: Parsed = { status: 0, headers: {}, body: "", isComplete: false, keepsAlive: false, rest: "" };
  parser.begin({
    onHead: (status, headers) => {
      if (parsed.status !== 0) throw new Error("There are two heads.");
      Object.assign(parsed, { status, headers });
    },
    onBody: (bytes) => {
      expect(parsed.status).not.toBe(0);
      expect(bytes.length).toBeGreaterThan(0);
      parsed.body += bytes.toString("latin1");
    },
  });
  const bytes = Buffer.from(answer, "latin1");
  let pieces = 0;
  for (let at = 0; at < bytes.length; ) {
    const size = sizes[Math.min(pieces++, sizes.length - 1)]!;
    // In memory of its own, since it may be moved.
    const piece = Buffer.from(bytes.subarray(at, at + size));
    at += piece.length;
    const read = parser.read(piece);
    if (read < piece.length || parser.isComplete) {
      parsed.rest = bytes.toString("latin1", at - piece.length + read);
      break;
    }
  }
  return { ...parsed, isComplete: parser.isComplete, keepsAlive: parser.keepsAlive };
}

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

describe("an answer", () => {
  const answers: [title: string, answer: string, expected: Partial<Parsed>][] = [
    [
      "with a length",
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Empty:\r\nContent-Length:  5 \t\r\n\r\nhello",
      {
        status: 200,
        headers: { "content-type": "application/json", "x-empty": "", "content-length": "5" },
        body: "hello",
        keepsAlive: true,
      },
    ],
    ["without a reason", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", { status: 404, body: "", keepsAlive: true }],
    ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", { status: 204, body: "", keepsAlive: true }],
    [
      "without a body, whatever its length is said to be",
      "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
      { status: 304, body: "", keepsAlive: true },
    ],
    [
      "in chunks, with extensions and trailers",
      `${CHUNKED}5;name="a b"\r\nhello\r\n1\r\n \r\n00000A \r\nchunked wo\r\n3\r\nrld\r\n0\r\nDigest: x\r\nOther: y\r\n\r\n`,
      { body: "hello chunked world", keepsAlive: true },
    ],
    ["of no chunk", `${CHUNKED}0\r\n\r\n`, { body: "", keepsAlive: true }],
    [
      "after others that announce it",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
      { status: 200, headers: { "content-length": "1" }, body: "x" },
    ],
    [
      "behind which the connection closes",
      "HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 1\r\n\r\nx",
      { body: "x", keepsAlive: false },
    ],
    ["of an old server", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", { body: "x", keepsAlive: false }],
    [
      "of an old server that keeps the connection",
      "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx",
      { body: "x", keepsAlive: true },
    ],
    [
      "with headers that it has twice, and with some that are nobody's business",
      "HTTP/1.1 200 OK\r\nVary: a\r\nConstructor: x\r\nSet-Cookie: s=1\r\nSet-Cookie: t=2\r\nUpgrade: h2c\r\nVary: b\r\nContent-Length: 0\r\n\r\n",
      { headers: { vary: "a, b", constructor: "x", "content-length": "0" } },
    ],
    [
      "and something behind it",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny",
      { body: "x", rest: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny" },
    ],
  ];

  it.each(answers)("%s is read the same, however it comes", (_title, answer, expected) => {
    const whole = parse(answer, answer.length);
    expect(whole).toMatchObject({ isComplete: true, rest: "", ...expected });
    expect(parse(answer, 1)).toEqual(whole);
    for (let first = 1; first < answer.length; first++) expect(parse(answer, first, answer.length)).toEqual(whole);
  });

  it("without a length goes on until the connection ends", () => {
    const parsed = parse("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello world", 30);
    expect(parsed).toMatchObject({ body: "hello world", isComplete: false, keepsAlive: false });
  });

  it("is not complete as long as anything of it is missing", () => {
    for (const [, answer] of answers.filter(([, , { rest }]) => rest === undefined)) {
      for (let length = 1; length < answer.length; length++) {
        expect(parse(answer.slice(0, length), 7).isComplete).toBe(false);
      }
    }
  });

  const head = "HTTP/1.1 200 OK\r\n";
  it.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.9\r\n"],
    ["another version", "HTTP/2.0 200 OK\r\n\r\n"],
    ["no status", "HTTP/1.1 OK\r\n\r\n"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
    ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
    ["announcements without an answer", "HTTP/1.1 100 Continue\r\n\r\n".repeat(20)],
    ["an upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["blanks before the answer", "\r\nHTTP/1.1 200 OK\r\n\r\n"],
    ["a line without a colon", `${head}Nothing\r\n\r\n`],
    ["a blank before the colon", `${head}Content-Length : 1\r\n\r\nx`],
    ["a header without a name", `${head}: x\r\n\r\n`],
    ["a line that goes on", `${head}X: a\r\n b\r\n\r\n`],
    ["a line break without CR", `${head}X: a\nY: b\r\n\r\n`],
    ["line breaks without CR alone", "HTTP/1.1 200 OK\nContent-Length: 0\n\n"],
    ["a CR alone", `${head}X: a\rY: b\r\n\r\n`],
    ["a CR at the end", `${head}X: a\r\r\n\r\n`],
    ["NUL", `${head}X: a\0\r\n\r\n`],
    ["two lengths", `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`],
    ["the same length twice", `${head}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`],
    ["a list of lengths", `${head}Content-Length: 1, 1\r\n\r\nx`],
    ["a negative length", `${head}Content-Length: -1\r\n\r\n`],
    ["a length with a sign", `${head}Content-Length: +1\r\n\r\nx`],
    ["a hexadecimal length", `${head}Content-Length: 0x1\r\n\r\nx`],
    ["an empty length", `${head}Content-Length:\r\n\r\nx`],
    ["a length beyond all numbers", `${head}Content-Length: 99999999999999999999\r\n\r\nx`],
    ["a length and chunks", `${head}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["an unknown way of sending", `${head}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ["two ways of sending", `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n`],
    ["chunks of an old server", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["a chunk without a size", `${CHUNKED}\r\nx\r\n0\r\n\r\n`],
    ["a chunk with a size that is none", `${CHUNKED}x\r\n`],
    ["a chunk with a negative size", `${CHUNKED}-1\r\n`],
    ["a chunk beyond all sizes", `${CHUNKED}fffffffffffff\r\n`],
    ["a size with an extension alone", `${CHUNKED};a=b\r\n`],
    ["a size that a LF alone ends", `${CHUNKED}1\nx\r\n0\r\n\r\n`],
    ["a longer chunk than was said", `${CHUNKED}1\r\nxy\r\n0\r\n\r\n`],
    ["a chunk that a LF alone ends", `${CHUNKED}1\r\nx\n0\r\n\r\n`],
    ["an extension without end", `${CHUNKED}1;${"x".repeat(2000)}`],
    ["trailers without end", `${CHUNKED}0\r\n${"X: y\r\n".repeat(10_000)}`],
    ["a trailer with NUL", `${CHUNKED}0\r\nX: \0\r\n\r\n`],
    ["a head without end", `${head}X: ${"y".repeat(40_000)}`],
    ["a long head", `${head}X: ${"y".repeat(40_000)}\r\n\r\n`],
  ])("that is no HTTP is refused: %s", (_title, answer) => {
    expect(() => parse(answer, answer.length)).toThrow(HttpError);
    expect(() => parse(answer, 1)).toThrow(HttpError);
    expect(() => parse(answer, 3)).toThrow(HttpError);
  });
});

it("the time that a connection may be idle is what the upstream says, less a margin", () => {
  for (const [hint, millis] of [
    ["timeout=72", 71_000],
    ["timeout=5, max=100", 4000],
    ["max=100", 4000],
    ["timeout=999999", 600_000],
  ] as const) {
    const parser = new ResponseParser();
    parser.begin({ onHead: () => {}, onBody: () => {} });
    parser.read(Buffer.from(`HTTP/1.1 204 No Content\r\nKeep-Alive: ${hint}\r\n\r\n`));
    expect(parser.idleMillis).toBe(millis);
  }
});
