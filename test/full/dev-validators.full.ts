import "../../src/dev/validators/validators.test.ts";
