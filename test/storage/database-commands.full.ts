import "./database-commands.test.ts";
