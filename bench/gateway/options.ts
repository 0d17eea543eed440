export interface GatewayBenchOptions {
  /** Selects parts whose names contain this. */
  only: string;
  rounds: number;
  /** Duration of each measurement. */
  seconds: number;
  /** Size of the state that the long list reads. */
  validators: number;
}
