import { createKeyString } from "./domain/key-string.ts";

// Prints a new key for AUTH_BOOTSTRAP_KEY. It opens nothing until an auth service was started with it.
process.stdout.write(`${createKeyString()}\n`);
