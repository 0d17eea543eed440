export interface CallOptions {
  method: string;
  /** The JSON texts of the parameters. */
  params: readonly string[];
  url: string;
  json: boolean;
  meta: boolean;
  timeout: number;
}
