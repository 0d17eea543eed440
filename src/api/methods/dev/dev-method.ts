/** What all methods that control a dev chain have in common. */
export const DEV_METHOD = { failures: ["unsupported"], cost: "cheap", access: "dev" } as const;
