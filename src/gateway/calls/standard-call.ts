import type { MethodDefinition } from "../../api/definition.ts";
import { rejected } from "../../errors/failure.ts";
import type { ScannedJson } from "../../json/parse.ts";
import type { Cancellation, MethodResponse, Params } from "../../server/method-table.ts";
import { BROADCAST_ONLY_STATUS } from "../upstream/requests/submission.ts";
import type { OperationMapping } from "./operation-mapping.ts";
import { toRpcAnswer } from "./responses/rpc-result.ts";
import { bufferErrorBody } from "./responses/upstream-failure.ts";
import type { BuiltRequest } from "./rest-request-builder.ts";
import { methodNamed, type StandardOperations } from "./standard-operations.ts";

/** Some nodes reject longer URLs. */
const MAX_URL_LENGTH = 4096;

/** POST variants of operations whose query may be too long for a URL, and how their parameters are converted. */
const POST_VARIANTS: Readonly<Record<string, [operation: string, params: (query: BuiltRequest["params"]) => Params]>> =
  {
    get_v1_beacon_states_stateId_validators: [
      "post_v1_beacon_states_stateId_validators",
      ({ state_id, id, status }) => ({
        state_id,
        filter: { ...(id && { ids: id.split(",") }), ...(status && { statuses: status.split(",") }) },
      }),
    ],
    get_v1_beacon_states_stateId_validator_balances: [
      "post_v1_beacon_states_stateId_validator_balances",
      ({ state_id, id }) => ({ state_id, ...(id && { ids: id.split(",") }) }),
    ],
  };

interface StandardCall {
  call(params: Params, cancellation: Cancellation): Promise<MethodResponse>;
  /** Like `call`, for large parameters. */
  callByJson(params: ScannedJson, cancellation: Cancellation): Promise<MethodResponse>;
}

/** Serves JSON-RPC calls of a method by a standard REST operation. */
export function standardCall(
  method: MethodDefinition,
  { operation: name, query, transform, requiresImport }: OperationMapping,
  operations: StandardOperations,
): StandardCall {
  const operation = methodNamed(name);
  const requestBuilder = operations.requestBuilder(method, operation, query);
  const postVariant = POST_VARIANTS[name];
  const call = async (params: Params, cancellation: Cancellation): Promise<MethodResponse> => {
    const built = requestBuilder.build(params);
    const request = built instanceof Promise ? await built : built;
    const response =
      postVariant && request.request.url.length > MAX_URL_LENGTH
        ? await operations.call(postVariant[0], postVariant[1](request.params), cancellation)
        : await operations.send(operation, request, { cancellation });
    if (requiresImport && response.status === BROADCAST_ONLY_STATUS) {
      throw rejected(`The block was broadcast, but upstream ${response.upstream} did not import it.`);
    }
    return toRpcAnswer(
      method,
      response.status < 400 ? response : await bufferErrorBody(response, cancellation),
      transform,
    );
  };
  return {
    call,
    callByJson: async ({ bytes }, cancellation) => call(requestBuilder.parseParams(bytes), cancellation),
  };
}
