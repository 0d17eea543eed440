import { expect, it } from "vitest";
import { readFinalityMetadata } from "./finality-metadata.ts";

const finality = (body: string, headers = {}) => readFinalityMetadata(headers, Buffer.from(body));

it("reads members before and after data, in any order and spacing", () => {
  const final = { finalized: true, optimistic: false };
  for (const body of [
    '{"data":{"root":"0x01"},"execution_optimistic":false,"finalized":true}',
    '{"version":"fulu","execution_optimistic":false,"finalized":true,"data":[{"x":"1"}]}',
    '{"finalized":true,"data":[],"execution_optimistic":false}\n',
    '{ "execution_optimistic" : false ,\n "data" : { } ,\n "finalized" : true\n}',
    `{"data":"${"f".repeat(2000)}","finalized":true,"execution_optimistic":false}`,
  ]) {
    expect(finality(body), body).toEqual(final);
  }
});

it("ignores members inside of data", () => {
  const nothing = { finalized: undefined, optimistic: undefined };
  for (const body of [
    '{"data":{"execution_optimistic":false,"finalized":true}}',
    '{"data":[{"finalized":true}]}',
    '{"data":{"a":[1],"finalized":true}}',
    '{"data":"\\",\\"finalized\\":true"}',
    '[{"finalized":true}]',
    '{"data":{"x":1},"finalized":true',
    '{"finalized":"true","data":{}}',
    "",
    "\0\u0001",
  ]) {
    expect(finality(body), body).toEqual(nothing);
  }
});

it("prefers headers", () => {
  const headers = { "eth-consensus-finalized": "false", "eth-execution-optimistic": "true" };
  expect(finality('{"finalized":true,"data":{}}', headers)).toEqual({ finalized: false, optimistic: true });
  expect(finality('{"finalized":true,"data":{}}', { "eth-execution-optimistic": "true" })).toEqual({
    finalized: true,
    optimistic: true,
  });
});
