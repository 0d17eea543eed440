/** Keys of a gateway's config file that are not flags. Separate from the schema, whose library is slow to load. */
export const GATEWAY_SECTION_NAMES = ["upstreams", "clients", "methods"] as const;
