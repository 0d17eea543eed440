import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDirectory } from "../../../test/support/directories/temp-directory.ts";
import { readTargets } from "./targets.ts";

describe("upstream URLs", () => {
  it("get the token of --token-file, unless they have their own credentials", () => {
    const workingDirectory = tempDirectory();
    for (const name of ["common", "own"]) writeFileSync(join(workingDirectory, name), `token-of-${name}-file\n`);
    const written = [
      "https://me:p%40ss@node.example/eth/",
      "http://127.0.0.1:5052",
      "http://127.0.0.1:5053 token-file=own",
    ];
    expect(readTargets(written, { tokenFile: "common", workingDirectory })).toMatchObject([
      {
        name: "node.example",
        url: "https://node.example/eth",
        authorization: `Basic ${Buffer.from("me:p@ss").toString("base64")}`,
      },
      { name: "127.0.0.1:5052", url: "http://127.0.0.1:5052", authorization: "Bearer token-of-common-file" },
      { name: "127.0.0.1:5053", authorization: "Bearer token-of-own-file" },
    ]);
  });

  const refused: [written: string[], complaint: RegExp][] = [
    [[], /^Missing URL/],
    [["127.0.0.1:5052"], /^The URL "127.0.0.1:5052" is not accepted: it must be a URL that begins with http/],
    [["http://me:secret@host:x"], /^The URL "http:\/\/…@host:x" is not accepted/],
    [["http://a:1", "http://me:secret@a:1/"], /^The upstream a:1 is given twice/],
  ];
  for (const [written, complaint] of refused) {
    it(`are rejected: ${written.join(" ") || "none"}`, () => {
      const reading = () => readTargets(written, { tokenFile: undefined, workingDirectory: "/nowhere" });
      expect(reading).toThrow(complaint);
      expect(reading).toThrow(expect.objectContaining({ exitCode: 2 }));
    });
  }
});
