export interface GatewayBenchOptions {
  /** Of the parts that are wanted, what is in their names. */
  only: string;
  rounds: number;
  /** Of each measurement. */
  seconds: number;
  /** Of the state whose validators are read. */
  validators: number;
}
