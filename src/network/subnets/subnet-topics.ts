/** Which subnets' messages this node takes part in; the topics follow at once. */
export interface SubnetTopics {
  setAttestationSubnets(subnets: ReadonlySet<number>): void;
  setSyncSubnets(subnets: ReadonlySet<number>): void;
}
