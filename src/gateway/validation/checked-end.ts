import { checkBodyEnd, TAIL_BYTES } from "../calls/responses/data-scanner.ts";
import { isWrapped } from "../calls/responses/response-form.ts";
import { TailStream } from "../calls/responses/tail-stream.ts";
import { type UpstreamCall, UpstreamError, type UpstreamResponse } from "../upstream/upstream-call.ts";
import { isSsz } from "./response-validator.ts";
import { findSszViolation } from "./ssz-checks.ts";

/**
 * Returns a streamed response that fails with an `UpstreamError` before its last bytes if the body is truncated. The
 * start must have been validated.
 */
export function withCheckedEnd(
  call: UpstreamCall,
  response: UpstreamResponse,
  onViolation: (error: UpstreamError) => void,
): UpstreamResponse {
  const { body, start, upstream } = response;
  if (Buffer.isBuffer(body) || start === undefined) return response;
  const finish = (rest: Buffer, passedBytes: number): Buffer => {
    try {
      if (isSsz(response)) checkSszLength(call, response, start, passedBytes + rest.length);
      else checkBodyEnd({ start, rest, passedBytes, isWrapped: isWrapped(call.method) }, upstream);
      return rest;
    } catch (error) {
      if (error instanceof UpstreamError) onViolation(error);
      throw error;
    }
  };
  const stream = new TailStream(undefined, body[Symbol.asyncIterator](), { tailBytes: TAIL_BYTES, finish });
  return { ...response, body: stream };
}

function checkSszLength(call: UpstreamCall, { upstream }: UpstreamResponse, start: Buffer, length: number): void {
  const violation = findSszViolation(call.request.url, call.params, { start, length });
  if (violation === undefined) return;
  const message = `${upstream} answered ${call.method.name} with an invalid result: the body ${violation}.`;
  throw new UpstreamError(upstream, message, { mayHaveArrived: true, isInvalidResponse: true });
}
