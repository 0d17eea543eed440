/** Members common to all methods that control a dev chain. */
export const DEV_METHOD = { failures: ["unsupported"], cost: "cheap", access: "dev" } as const;
