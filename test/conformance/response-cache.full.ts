import "./response-cache.test.ts";
