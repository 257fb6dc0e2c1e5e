import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

// Compiled code is kept for the next process: the tests start hundreds of Nodes and threads, from source too.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/node-compile-cache", import.meta.url))

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Real child processes need the bundle that `npm test` builds first; two cores, so two workers.
    maxWorkers: 2,
    // A third of the time was loading the same modules anew for every file. No test mocks a module, and those that change
    // something of their process put it back.
    isolate: false,
    testTimeout: 20_000
  }
})
